import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { created, current, error, garbled, herdr, inside, launch, outOfHerdr, trace, use } from "./HerdrWorld.ts"

describe("launching in Herdr", () => {
  it.effect("opens one tab beside its own, and types one short line into it", () =>
    Effect.gen(function*() {
      const script = herdr()
      const { layer, written } = makeLaunchScripts()
      const launched = yield* launch(script, { scripts: layer })
      assert.deepStrictEqual({ ...launched }, {
        multiplexer: "herdr",
        tab: "w1:t7",
        pane: "w1:p7",
        trace
      })
      assert.deepStrictEqual(script.calls.map((call) => [call.program, ...call.args]), [
        ["herdr", "pane", "current", "--current"],
        [
          ...["herdr", "tab", "create", "--workspace", "w1", "--cwd", process.cwd()],
          ...["--label", "Intercom (anonymous)", "--no-focus"]
        ],
        ["herdr", "pane", "run", "w1:p7", "sh '/state/team/launch/script-1.sh'"]
      ])
      for (const call of script.calls) assert.strictEqual(call.maxOutputBytes, 1024 * 1024)
      const text = written.get("/state/team/launch/script-1.sh") ?? ""
      assert.include(text, "rm -f -- '/state/team/launch/script-1.sh'")
      assert.include(text, "export PI_INTERCOM_ROOT='/team'\nexec '/bin/pi' '-e' 'it'\\''s\n$x'")
    }))

  it.effect("takes the ids of its answers, whatever the environment says and whatever else Herdr adds", () =>
    Effect.gen(function*() {
      const moved = { pane_id: "w1:p30", tab_id: "w1:t30", agent: null, agent_session: null, later: { x: [1] } }
      const script = herdr({ "pane current": current(moved), "tab create": created({ later: true }, { later: 1 }) })
      assert.strictEqual((yield* launch(script)).pane, "w1:p7")
      yield* use(script, (multiplexer) => multiplexer.title("Ada"))
      assert.deepStrictEqual(script.calls.at(-1)?.args, ["tab", "rename", "w1:t30", "Ada"])
      assert.deepStrictEqual(yield* use(script, (multiplexer) => multiplexer.identify), {
        workspaceId: "w1",
        paneId: "w1:p30",
        terminalId: "term-1"
      })
    }))

  it.effect("gives no trace where nothing says which server's pane it would be", () =>
    Effect.gen(function*() {
      for (const reason of [{}, { "pane run": error("timeout") }]) {
        const outcome = yield* Effect.either(launch(herdr(reason), { variables: { ...inside, HERDR_SOCKET_PATH: "" } }))
        assert.strictEqual(outcome._tag, "pane run" in reason ? "Left" : "Right")
        assert.isUndefined(outcome._tag === "Left" ? outcome.left.trace : outcome.right.trace)
      }
    }))
})

describe("titling in Herdr", () => {
  it.effect("a title is one argument and never an option; its failure is a sentence, and it is not tried again", () =>
    Effect.gen(function*() {
      for (
        const [name, label] of [["Ada", "Ada"], ["-x", " -x"], ["--help", " --help"], ["é $(b)", "é $(b)"]] as const
      ) {
        const script = herdr()
        yield* use(script, (multiplexer) => multiplexer.title(name))
        assert.deepStrictEqual(script.calls.map((call) => call.args), [
          ["pane", "current", "--current"],
          ["tab", "rename", "w1:t1", label]
        ])
      }
      const rows: ReadonlyArray<readonly [Behaviour, string]> = [
        [error("tab_not_found"), "Herdr does not know that tab any more"],
        [{ stdout: "" }, garbled],
        [{ fails: "missing" }, "herdr is not installed or not on PATH"]
      ]
      for (const [behaviour, says] of rows) {
        const script = herdr({ "tab rename": behaviour })
        const failed = yield* Effect.flip(use(script, (multiplexer) => multiplexer.title("Ada")))
        assert.strictEqual(failed.message, `The tab could not be renamed: ${says}.`)
        assert.lengthOf(script.calls, 2)
      }
      const outside = herdr()
      const failed = yield* Effect.flip(use(outside, (multiplexer) => multiplexer.title("a"), { variables: {} }))
      assert.strictEqual(failed.message, `The tab could not be renamed: ${outOfHerdr}.`)
      assert.lengthOf(outside.calls, 0)
    }))
})
