import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { IdentifiedProcess, Liveness } from "../../../src/domain/IdentifiedProcess.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { inWorld, own, server, traceOf, viewpoint, worker, type World, world } from "./TmuxWorld.ts"

const stdout = (text: string): Partial<World> => ({ list: { stdout: text } })

describe("whether a tmux pane is gone, scripted", () => {
  it.effect("a launch says by what its pane is recognised", () =>
    Effect.gen(function*() {
      const { launch, script } = inWorld({})
      assert.deepStrictEqual(yield* launch, { multiplexer: "tmux", tab: "@7", pane: "%9", trace: traceOf("%9") })
      assert.strictEqual(script.calls.length, 2)
    }))

  it.effect("where only pids are known a launch has no trace", () =>
    Effect.gen(function*() {
      assert.notProperty(yield* inWorld({ own: { pid: 90 } }).launch, "trace")
    }))

  it.effect("while its server lives: when that very server lists its panes without it", () =>
    Effect.gen(function*() {
      const { gone, script } = inWorld({})
      assert.isTrue(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 1)
      for (const pane of ["%3", "%4", "%5"]) assert.isFalse(yield* gone(traceOf(pane)), pane)
      // In another session, in another window, dead, or respawned it is there all the same.
      for (const text of [worker.replace("$1", "$2"), worker.replace("|0|", "|1|"), worker.replace("|100|", "|140|")]) {
        assert.isFalse(yield* inWorld(stdout(own + text)).gone(traceOf("%4")), text)
      }
    }))

  it.effect("another server, even with its pid, says nothing of it", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* inWorld({}).gone(traceOf("%6", server.replace("77", "78"))))
      // Between the first look and the answer it ended, and another one got its pid.
      const looks: ReadonlyArray<Liveness> = ["alive", "gone"]
      const { gone, script } = inWorld({ look: (_, time) => looks[time] ?? "unknown" })
      assert.isFalse(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 1)
    }))

  it.effect("its server proven gone, whatever answers at the socket", () =>
    Effect.gen(function*() {
      const asked: Array<IdentifiedProcess> = []
      const look = (process: IdentifiedProcess): Liveness => {
        asked.push(process)
        return "gone"
      }
      for (
        const list of [world.list, { code: 1, stderr: "no server running on /tmp/s\n" }, { fails: "missing" as const }]
      ) {
        const { gone, script } = inWorld({ look, list })
        // The new server gives out the same ids again.
        assert.isTrue(yield* gone(traceOf("%4")))
        assert.strictEqual(script.calls.length, 0)
      }
      assert.deepStrictEqual(asked[0], { pid: 77, startTicks: "1000", ...viewpoint })
      assert.isTrue(yield* inWorld({ look, variables: {} }).gone(traceOf("%4")))
    }))

  it.effect("no server and no answer prove nothing by themselves", () =>
    Effect.gen(function*() {
      const lists: ReadonlyArray<Behaviour> = [
        { code: 1, stderr: "no server running on /tmp/s\n" },
        { code: 1, stderr: "error connecting to /tmp/s (No such file or directory)\n" },
        { code: 1, stderr: "" },
        { fails: "missing" },
        { fails: "signal" },
        { stdout: "" },
        { stdout: worker }
      ]
      for (const list of lists) {
        for (const liveness of ["alive", "unknown"] as const) {
          assert.isFalse(yield* inWorld({ list, look: () => liveness }).gone(traceOf("%6")), JSON.stringify(list))
        }
      }
      const { gone, script } = inWorld({ look: () => "unknown" })
      assert.isFalse(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 0)
      assert.isFalse(yield* inWorld({ variables: {} }).gone(traceOf("%6")))
    }))

  it.effect("what is no trace of tmux is not gone, and nothing is asked", () =>
    Effect.gen(function*() {
      const { gone, script } = inWorld({ look: () => "gone" })
      const traces = [
        "",
        "tmux",
        `tmux ${server}`,
        `tmux  ${server} %6`,
        `tmux ${server} %6 `,
        traceOf("%6", "tmux:77:1000"),
        traceOf("%6", server.replace("77", "0")),
        traceOf("%6", server.replace("1000", "x")),
        traceOf("%6", server.replace(":boot", ":")),
        `none ${server} %6`,
        `TMUX ${server} %6`
      ]
      for (const trace of traces) assert.isFalse(yield* gone(trace), trace)
      assert.strictEqual(script.calls.length, 0)
    }))

  it.effect("a verified pane: by its own server only, and never by its id alone", () =>
    Effect.gen(function*() {
      const verified = { workspaceId: "tmux:77:1000", paneId: "%6", terminalId: "/dev/pts/2", firstPid: 100 }
      const { isGone, script } = inWorld({})
      assert.isTrue(yield* isGone(verified))
      assert.strictEqual(script.calls.length, 1)
      assert.isFalse(yield* isGone({ ...verified, paneId: "%4" }))
      for (const workspaceId of ["tmux:78:1000", "tmux:77", "w1", ""]) {
        assert.isFalse(yield* isGone({ ...verified, workspaceId }), workspaceId)
      }
      assert.isFalse(yield* inWorld({ own: { pid: 90 } }).isGone(verified), "where only pids are known")
    }))
})
