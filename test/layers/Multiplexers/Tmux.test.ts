import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TmuxClient from "../../../src/layers/Multiplexers/TmuxClient.ts"
import { CommandRunner } from "../../../src/services/CommandRunner.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { scripted } from "../../support/CommandScripted.ts"
import { inside, launch, notLaunched, panes, title, tmux, use } from "./TmuxScripted.ts"

describe("Multiplexers over a scripted runner", () => {
  it.effect("a launch proves first, then opens one window in the session of its own pane", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes }, { stdout: "%8|@6\n" })
      const launched = yield* use(script, inside, launch("tmux"))
      assert.deepStrictEqual({ ...launched }, { multiplexer: "tmux", tab: "@6", pane: "%8" })
      assert.strictEqual(script.calls.length, 2)
      for (const call of script.calls) {
        assert.strictEqual(call.program, "tmux")
        assert.deepStrictEqual(call.args.slice(0, 3), ["-u", "-S", "/tmp/a,b/default"])
        assert.strictEqual(call.maxOutputBytes, 1024 * 1024)
      }
      const args = script.calls[1]?.args ?? []
      assert.strictEqual(args[args.indexOf("-t") + 1], "$1:")
    }))

  it.effect("a title is proven like a launch, and its failure is a sentence", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes })
      yield* use(script, inside, title("-a #(b);"))
      const args = script.calls[1]?.args ?? []
      assert.deepStrictEqual(args.slice(args.indexOf("rename-window")), [
        "rename-window",
        "-t",
        "%3",
        "--",
        "-a ##(b)\\;"
      ])
      const error = yield* Effect.flip(use(tmux({ stdout: "" }), inside, title("a")))
      assert.strictEqual(
        error.message,
        "The tab could not be renamed: this session's tmux pane %3 is not there any more; " +
          "open this session in a tmux pane."
      )
    }))

  it.effect("a call without an explicit target is a defect, and nothing runs", () =>
    Effect.gen(function*() {
      const script = tmux({})
      const runner = yield* Effect.provide(CommandRunner, script.layer)
      for (const target of ["", "main", "%"]) {
        const exit = yield* Effect.exit(TmuxClient.make(runner, "/s").call(["kill-pane", "-t", target]))
        assert.isTrue(exit._tag === "Failure" && exit.cause._tag === "Die")
      }
      assert.strictEqual(script.calls.length, 0)
    }))

  it.effect("where this session is, and what titles its tab", () =>
    Effect.gen(function*() {
      const here = Effect.flatMap(Multiplexers, (all) => all.here)
      const herdr = { HERDR_ENV: "1" }
      const script = tmux({ stdout: panes })
      assert.strictEqual(yield* use(script, { ...inside, ...herdr }, here), "herdr")
      assert.strictEqual(yield* use(script, inside, here), "tmux")
      assert.strictEqual(yield* use(script, { HERDR_ENV: "0" }, here), "herdr")
      assert.strictEqual(yield* use(script, {}, here, "win32"), "none")
      assert.strictEqual(yield* use(script, herdr, here, "win32"), "herdr")
      yield* use(script, {}, title("a"))
      assert.strictEqual(script.calls.length, 0)
      // tmux started inside a pane of Herdr, or Herdr inside one of tmux: Herdr titles.
      yield* Effect.flip(use(script, { ...inside, ...herdr, HERDR_WORKSPACE_ID: "w1" }, title("a")))
      assert.deepStrictEqual(script.calls.map((call) => call.program), ["herdr"])
    }))

  it.effect("outside Windows none opens no window and says what to do, and runs nothing", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes })
      const error = yield* Effect.flip(use(script, inside, launch("none")))
      assert.strictEqual(error.reason, "unsupported")
      assert.strictEqual(
        error.message,
        notLaunched(
          "the team's multiplexer is none, and only on Windows does Intercom open terminal windows of its own; " +
            "run Pi inside Herdr or tmux and choose that with intercom_set_multiplexer"
        )
      )
      assert.strictEqual(script.calls.length, 0)
    }))

  it.effect("a trace is asked of the multiplexer that it names, and only of that one", () =>
    Effect.gen(function*() {
      const everywhere = { ...inside, HERDR_ENV: "1", HERDR_WORKSPACE_ID: "w1", HERDR_SOCKET_PATH: "/run/herdr.sock" }
      const asked = (trace: string) => {
        const script = scripted(() => ({ code: 1 }))
        return Effect.flatMap(Multiplexers, (all) => all.gone(trace)).pipe(
          (effect) => use(script, everywhere, effect),
          Effect.map((gone) => [gone, script.calls.map((call) => call.program)])
        )
      }
      assert.deepStrictEqual(yield* asked("herdr aSdvo1cRyf9q:w1 w1:p1 t1"), [false, ["herdr"]])
      for (const trace of ["none w1 w1:p1", "screen a b", "herdr w1", "", "herdr w1 w1:p1 more"]) {
        assert.deepStrictEqual(yield* asked(trace), [false, []], trace)
      }
    }))
})
