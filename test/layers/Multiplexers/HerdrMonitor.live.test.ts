import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { eventuallyTrue } from "../../support/Eventually.ts"
import type { HerdrPane } from "../../support/herdr/Herdr.ts"
import { published } from "../../support/Processes.ts"
import { befalls, coordinator, everything, looks, steps, troubles, windowOf } from "./HerdrMonitorTeam.ts"

const probe = join(import.meta.dirname, "probe.cjs")
const Seen = Schema.parseJson(Schema.Struct({
  argv: Schema.Array(Schema.String),
  cwd: Schema.String,
  env: Schema.Record({ key: Schema.String, value: Schema.String })
}))

describe("the monitor pane in Herdr's stand-in, for real", () => {
  it.scopedLive("appears above the coordinator, titled, without the focus, and is recorded; again it is kept", () =>
    Effect.gen(function*() {
      const { created, file, herdr, own, place, record, runs, since } = yield* coordinator
      const monitor = yield* created
      assert.deepStrictEqual(yield* windowOf(herdr, own.tmux), {
        panes: [monitor.tmux, `${own.tmux}*`],
        heights: [10, 33]
      })
      const { stdout } = yield* herdr.call(["pane", "get", monitor.pane])
      const { label, terminal_id: terminal } = JSON.parse(stdout).result.pane
      assert.strictEqual(label, "Intercom monitor")
      const server = createHash("sha256").update(join(herdr.home, "tmux")).digest("base64url").slice(0, 12)
      assert.deepStrictEqual(yield* record, {
        version: 1,
        sessionId: "ada",
        workspace: own.workspace,
        caller: own.pane,
        stage: "submitted",
        pane: `herdr ${server}:${own.workspace} ${monitor.pane} ${terminal}`
      })
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      yield* eventuallyTrue("the monitor", Effect.map(runs, (count) => count === 1))
      const [count, all] = [(yield* herdr.calls).length, yield* everything(herdr)]
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      assert.deepStrictEqual(yield* since(count), looks)
      assert.deepStrictEqual(yield* everything(herdr), all)
      assert.strictEqual(yield* runs, 1)
    }))

  it.scopedLive("directory, arguments and environment reach it exactly, through a shell that is starting", () =>
    Effect.gen(function*() {
      const { herdr, place } = yield* coordinator
      yield* herdr.faults({ does: "cut", characters: 400 })
      const directory = join(herdr.home, "-a  b '\"$HOME `id` \\ \n#(touch ran)#{pid} é€😀;")
      fs.mkdirSync(directory)
      const hostile = ["--root", directory, "", "-", "$HOME $(id)", "a\nb\n", "\t\u001b", "x".repeat(3000), ";"]
      const environment = { ODD: "a=b\n#{pid} '\"$x \\;", PROBE_OUT: join(herdr.home, "seen.json") }
      const { pane } = yield* place({ directory, argv: [process.execPath, probe, ...hostile], environment })
      const seen = yield* Effect.flatMap(published(environment.PROBE_OUT), Schema.decode(Seen))
      assert.deepStrictEqual(seen.argv, hostile)
      assert.strictEqual(seen.cwd, directory)
      assert.strictEqual(seen.env["ODD"], environment.ODD)
      assert.strictEqual(seen.env["HERDR_PANE_ID"], pane)
      assert.deepStrictEqual(Object.keys(seen.env).filter((name) => name.startsWith("TMUX")), [])
    }))

  it.scopedLive("is kept from another pane of the tab and under another title; from another tab it is only named", () =>
    Effect.gen(function*() {
      const { created, herdr, own, place, refused } = yield* coordinator
      const monitor = yield* created
      yield* herdr.call(["pane", "rename", monitor.pane, "stolen"])
      const split = yield* herdr.call(["pane", "split", "--pane", own.pane, "--direction", "right", "--no-focus"])
      const pane: string = JSON.parse(split.stdout).result.pane.pane_id
      yield* herdr.call(["pane", "close", own.pane])
      assert.deepStrictEqual(yield* place({}, { ...own, pane }), { outcome: "kept", pane: monitor.pane })
      const elsewhere = yield* herdr.tab(own.workspace, herdr.home)
      const all = yield* everything(herdr)
      assert.match(
        yield* refused(elsewhere),
        new RegExp(`^The monitor pane was left alone: it is the pane ${monitor.pane}, which is in another tab`)
      )
      assert.deepStrictEqual(yield* everything(herdr), all)
    }))

  it.scopedLive("that was moved to another tab or workspace is only named; closed it is made anew", () =>
    Effect.gen(function*() {
      const { created, herdr, own, place, record, refused } = yield* coordinator
      const monitor = yield* created
      const before = yield* record
      yield* herdr.tmux.run(["break-pane", "-d", "-s", monitor.tmux])
      assert.match(yield* refused(), new RegExp(`it is the pane ${monitor.pane}, which is in another tab`))
      const other = yield* herdr.workspace(herdr.home)
      const there: HerdrPane = { ...own, pane: monitor.pane, tmux: monitor.tmux }
      const moved = yield* herdr.move(there, other.workspace)
      assert.notStrictEqual(moved.pane, monitor.pane)
      const all = yield* everything(herdr)
      assert.match(
        yield* refused(),
        new RegExp(`it is the pane ${moved.pane}, which is in another tab than this session, ${moved.tab}`)
      )
      assert.deepStrictEqual([yield* everything(herdr), yield* record], [all, before])
      // By the terminal that stays with it.
      const beside = { ...other, tab: moved.tab, pane: moved.pane }
      assert.deepStrictEqual(yield* place({}, beside), { outcome: "kept", pane: moved.pane })
      yield* herdr.tmux.run(["kill-pane", "-t", monitor.tmux])
      const again = yield* created
      assert.notStrictEqual(again.pane, monitor.pane)
      assert.deepStrictEqual((yield* windowOf(herdr, own.tmux)).panes, [again.tmux, `${own.tmux}*`])
    }))

  it.scopedLive("a pane of a person's with its title in the tab stops everything; in another tab it means nothing", () =>
    Effect.gen(function*() {
      const { created, herdr, own, record, refused, since } = yield* coordinator
      const other = yield* herdr.tab(own.workspace, herdr.home)
      yield* herdr.call(["pane", "rename", other.pane, "Intercom monitor"])
      const split = yield* herdr.call(["pane", "split", "--pane", own.pane, "--direction", "right", "--no-focus"])
      const stranger: string = JSON.parse(split.stdout).result.pane.pane_id
      yield* herdr.call(["pane", "rename", stranger, "Intercom monitor"])
      const count = (yield* herdr.calls).length
      assert.strictEqual(
        yield* refused(),
        "The monitor pane was left alone: there is a pane of its title in this tab that this session did not make, " +
          `${stranger}. Nothing was created or changed; messages work without it. Close or rename it; then run /reload.`
      )
      assert.deepStrictEqual([yield* since(count), yield* record], [looks, undefined])
      yield* herdr.call(["pane", "rename", stranger, "mine"])
      yield* created
    }))

  it.scopedLive("what was begun and not finished is not tried again until a person has removed pane and record", () =>
    Effect.gen(function*() {
      const { created, file, herdr, own, refused } = yield* coordinator
      yield* herdr.faults({ does: "refuse", when: "before", code: "pane_not_found", command: "pane swap" })
      const said = yield* refused()
      const pane = /The pane (w\S+) may have been left behind; nothing was cleaned up/.exec(said)?.[1] ?? ""
      assert.include(said, `Once you have closed it and removed ${file}, /reload makes a new one.`)
      yield* herdr.faults()
      assert.match(yield* refused(), new RegExp(`one was begun and not finished, perhaps as the pane ${pane}\\.`))
      yield* herdr.call(["pane", "close", pane])
      assert.match(yield* refused(), new RegExp(`one was begun and not finished, perhaps as the pane ${pane}\\.`))
      assert.deepStrictEqual((yield* windowOf(herdr, own.tmux)).panes, [`${own.tmux}*`])
      fs.rmSync(file)
      yield* created
    }))

  it.scopedLive("a record that is not one stops everything, and stays as it is", () =>
    Effect.gen(function*() {
      const { created, file, herdr, refused } = yield* coordinator
      yield* created
      fs.writeFileSync(file, "{}", { mode: 0o600 })
      const all = yield* everything(herdr)
      assert.match(
        yield* refused(),
        /^There is no monitor pane: What Intercom keeps privately at .* cannot be used: it is not a/
      )
      assert.deepStrictEqual([yield* everything(herdr), fs.readFileSync(file, "utf8")], [all, "{}"])
    }))

  // Every one of them is in HerdrMonitor.long.test.ts.
  for (const step of steps) befalls(step, troubles.filter((_, at) => [1, 5, 10].includes(at)))
})
