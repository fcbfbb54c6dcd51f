import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import { join } from "node:path"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { alone, type Herdr, type HerdrPane } from "../../support/herdr/Herdr.ts"
import { tmuxPane } from "../../support/herdr/Names.ts"
import { isRunning, published } from "../../support/Processes.ts"
import { at, stateOf } from "./HerdrSession.ts"

const probe = join(import.meta.dirname, "probe.cjs")
const Seen = Schema.parseJson(Schema.Struct({
  argv: Schema.Array(Schema.String),
  cwd: Schema.String,
  env: Schema.Record({ key: Schema.String, value: Schema.String }),
  pid: Schema.Number
}))

const launch = (
  herdr: Herdr & { readonly home: string },
  args: ReadonlyArray<string>,
  directory: string,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(Multiplexers, (all) =>
    all.of("herdr").launch({
      root: herdr.home,
      argv: [process.execPath, probe, ...args],
      directory,
      environment: { ...environment, PROBE_OUT: join(herdr.home, "seen.json") }
    }))
const seenBy = (herdr: { readonly home: string }) =>
  Effect.flatMap(published(join(herdr.home, "seen.json")), Schema.decode(Seen))

const hostile = [
  "",
  "-",
  "--",
  " a  b ",
  "'",
  "\"",
  "`id`",
  "$HOME $(id)",
  "\\",
  "a\\;",
  "a\nb\n",
  "\t\u001b",
  "#{pid}",
  "é€😀",
  ";",
  ""
]

/** Everything in a folder and below it. */
const below = (folder: string): ReadonlyArray<string> =>
  fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: "utf8" }) : []

describe("Herdr's stand-in, for real", () => {
  it.scopedLive("directory, arguments and environment reach the program exactly, in one new tab without the focus", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      const directory = join(herdr.home, "-a  b '\"$HOME `id` \\ \n#(touch ran)#{pid} é€😀", "-last;")
      fs.mkdirSync(directory, { recursive: true })
      const environment = { EMPTY: "", ODD: "a=b\n#{pid} '\"$x \\;" }
      const launched = yield* Effect.provide(launch(herdr, hostile, directory, environment), at(herdr, own))
      const seen = yield* seenBy(herdr)
      assert.deepStrictEqual(seen.argv, hostile)
      assert.strictEqual(seen.cwd, directory)
      for (const [name, value] of Object.entries(environment)) assert.strictEqual(seen.env[name], value, name)
      assert.strictEqual(seen.env["HERDR_PANE_ID"], launched.pane)
      assert.strictEqual(seen.env["HERDR_TAB_ID"], launched.tab)
      assert.deepStrictEqual(Object.keys(seen.env).filter((name) => name.startsWith("TMUX")), [])
      assert.deepStrictEqual(below(stateOf(herdr)).filter((name) => name.endsWith(".sh")), [])
      assert.deepStrictEqual((yield* herdr.calls).map((call) => call.command), [
        "pane current",
        "tab create",
        "pane run"
      ])
      const title = Effect.flatMap(Multiplexers, (all) => all.title("Ada #(b);"))
      yield* Effect.provide(title, at(herdr, own))
      const windows = yield* herdr.tmux.run(["list-windows", "-a", "-F", "#{window_active} #{window_name}"])
      assert.include(windows, "1 Ada #(b);\n")
      assert.include(windows, "0 Intercom (anonymous)\n")
    }))

  it.scopedLive("the launched pane is verified, and proven gone once it is closed", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      yield* Effect.gen(function*() {
        const all = yield* Multiplexers
        const multiplexer = all.of("herdr")
        assert.deepStrictEqual(yield* multiplexer.identify, {
          workspaceId: own.workspace,
          paneId: own.pane,
          terminalId: own.terminal
        })
        const launched = yield* launch(herdr, [], herdr.home)
        const { env, pid } = yield* seenBy(herdr)
        // Where the worker itself would look.
        const inPane: HerdrPane = {
          workspace: `${env["HERDR_WORKSPACE_ID"]}`,
          tab: `${env["HERDR_TAB_ID"]}`,
          pane: `${env["HERDR_PANE_ID"]}`,
          terminal: "",
          tmux: ""
        }
        const pane = yield* Effect.flatMap(Multiplexers, (there) => there.of("herdr").identify).pipe(
          Effect.provide(at(herdr, inPane))
        )
        assert.match(
          launched.trace ?? "",
          new RegExp(`^herdr [\\w-]{12}:${pane.workspaceId} ${pane.paneId} ${pane.terminalId}$`)
        )
        const worker: PaneIdentity = {
          ...pane,
          sessionId: SessionId.make("w-1"),
          sessionFile: join(herdr.home, "s.jsonl"),
          pid,
          processStart: (yield* (yield* ProcessIdentity).facts(pid)).startTicks
        }
        const verify = (changed: Partial<PaneIdentity> = {}) =>
          multiplexer.verify({ ...worker, ...changed }, SessionId.make("c-1"))
        yield* verify()
        const refused = (changed: Partial<PaneIdentity>) => Effect.map(Effect.flip(verify(changed)), (no) => no.detail)
        assert.strictEqual(yield* refused({ processStart: "1" }), "its process has ended")
        assert.strictEqual(yield* refused({ pid: process.pid }), "its process does not run in the foreground there")
        assert.strictEqual(
          yield* refused({ terminalId: own.terminal }),
          "Herdr has another pane or terminal under its id"
        )
        yield* herdr.agent({ ...inPane, tmux: tmuxPane(launched.pane) }, "pi", join(herdr.home, "old.jsonl"))
        assert.strictEqual(yield* refused({}), "Herdr sees another session in it")

        assert.isFalse(yield* all.gone(launched.trace ?? ""))
        yield* herdr.call(["pane", "close", launched.pane])
        assert.isTrue(yield* all.gone(launched.trace ?? ""))
        assert.isFalse(isRunning(pid))
      }).pipe(Effect.provide(at(herdr, own)))
    }))

  it.scopedLive("a pane that was moved to another workspace is not gone: its program runs there, under another id", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      const other = yield* herdr.workspace(herdr.home)
      yield* Effect.gen(function*() {
        const all = yield* Multiplexers
        const { pane, tab, trace = "" } = yield* launch(herdr, [], herdr.home)
        const { pid } = yield* seenBy(herdr)
        const launched: HerdrPane = { workspace: own.workspace, tab, pane, terminal: "", tmux: tmuxPane(pane) }
        const moved = yield* herdr.move(launched, other.workspace)
        assert.notStrictEqual(moved.pane, pane)
        assert.isFalse(yield* all.gone(trace))
        assert.isTrue(isRunning(pid))
        yield* herdr.call(["pane", "close", moved.pane])
        assert.isTrue(yield* all.gone(trace))
        assert.isFalse(isRunning(pid))
      }).pipe(Effect.provide(at(herdr, own)))
    }))

  it.scopedLive("a launch whose last answer was lost names the pane in which it runs", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      yield* herdr.faults({ does: "refuse", when: "after", code: "timeout", command: "pane run" })
      yield* Effect.gen(function*() {
        const all = yield* Multiplexers
        const { reason, trace = "" } = yield* Effect.flip(launch(herdr, [], herdr.home))
        const { env, pid } = yield* seenBy(herdr)
        assert.strictEqual(reason, "unknown")
        assert.isFalse(yield* all.gone(trace))
        yield* herdr.call(["pane", "close", `${env["HERDR_PANE_ID"]}`])
        assert.isTrue(yield* all.gone(trace))
        assert.isFalse(isRunning(pid))
      }).pipe(Effect.provide(at(herdr, own)))
    }))

  it.scopedLive("a herdr that hangs holds nobody longer than the deadline, and is gone afterwards", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      yield* herdr.faults({ does: "hang", when: "before", command: "pane current" })
      const failed = yield* Effect.flip(Effect.provide(launch(herdr, [], herdr.home), at(herdr, own)))
      assert.strictEqual(
        failed.message,
        "The worker was not launched: herdr did not answer in time and was ended. No tab was opened."
      )
      const [call, ...more] = yield* herdr.calls
      assert.lengthOf(more, 0)
      yield* eventuallyTrue("the end of herdr", Effect.sync(() => !isRunning(call?.pid ?? 0)))
    }))

  it.scopedLive("the short line survives a shell that cuts what is typed while it starts", () =>
    Effect.gen(function*() {
      const herdr = yield* alone
      const own = yield* herdr.workspace(herdr.home)
      yield* herdr.faults({ does: "cut", characters: 2_000 })
      const long = ["x".repeat(20_000)]
      yield* Effect.provide(launch(herdr, long, herdr.home), at(herdr, own))
      assert.deepStrictEqual((yield* seenBy(herdr)).argv, long)
    }))
})
