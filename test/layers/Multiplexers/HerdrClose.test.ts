import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { CloseAnswer, VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as Unavailable from "../../../src/layers/Multiplexers/Unavailable.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { answer, called, error, herdr, pane as paneOf, processes, type Setting, use } from "./HerdrWorld.ts"

const pane: VerifiedPane = { workspaceId: "w1", paneId: "w1:p7", terminalId: "term-7", firstPid: undefined }

/** Closes a pane in a Herdr that answers so. */
const closing = (told: Behaviour, setting: Setting = {}) => {
  const script = herdr({ "pane close": told })
  const close = <E = never>(asked: VerifiedPane = pane, last: Effect.Effect<void, E> = Effect.void) =>
    use(script, (multiplexer) => multiplexer.close(asked, last), setting)
  return { script, close }
}
const ok = answer("ok", {})

/** What Herdr can do with the command, and what is known then. */
const answers: ReadonlyArray<readonly [string, Behaviour, CloseAnswer]> = [
  ["says that it closed it", ok, "closed"],
  ["says so with more fields", answer("ok", { more: ["things"] }), "closed"],
  ["is not installed", { fails: "missing" }, "not_started"],
  ["cannot be started", { fails: "not_started" }, "not_started"],
  ["is killed", { fails: "signal" }, "unknown"],
  ["says nothing", {}, "unknown"],
  ["says something else", { stdout: "closed\n" }, "unknown"],
  ["answers another command", answer("pane_info", { pane: paneOf(7) }), "unknown"],
  ["is cut off", { stdout: `${ok.stdout?.slice(0, 20)}` }, "unknown"],
  ["says too much", { stdout: `${ok.stdout}${" ".repeat(65 * 1024)}` }, "unknown"],
  ["fails though it closed it", { ...ok, code: 1 }, "unknown"],
  ["fails in plain words", { code: 1, stderr: "Connection reset by peer\n" }, "unknown"],
  ["does not know the command", { code: 2, stderr: "error: unrecognized subcommand\n" }, "unknown"],
  // It was gone before, or its answer is the second of two.
  ["does not know the pane", error("pane_not_found"), "unknown"],
  ["asks for confirmation", error("confirmation_required"), "unknown"],
  ["finds no server", error("server_not_running"), "unknown"],
  ["meets a timeout of the server", error("timeout"), "unknown"]
]

describe("closing a pane of Herdr, scripted", () => {
  it.effect("what is verified is the pane as Herdr has it", () =>
    Effect.gen(function*() {
      const script = herdr({
        "pane get": answer("pane_info", { pane: paneOf(7) }),
        "pane process-info": answer("pane_process_info", {
          process_info: { pane_id: "w1:p7", foreground_processes: [{ pid: 70, name: "node" }] }
        })
      })
      const claim = { sessionId: SessionId.make("w-1"), sessionFile: "/nowhere/s.jsonl", pid: 70, processStart: "500" }
      const { firstPid: _, ...place } = pane
      const found = yield* use(
        script,
        (multiplexer) => multiplexer.verify({ ...place, ...claim }, SessionId.make("c-1")),
        { processes: processes({ environment: () => Effect.succeed(Option.some("w1:p7")) }) }
      )
      const verifier = { workspaceId: "w1", paneId: "w1:p1", terminalId: "term-1" }
      assert.deepStrictEqual(found, { ...pane, verifier })
    }))

  it.effect("is one call, exactly this one, for 2 s, after the last look", () =>
    Effect.gen(function*() {
      const { close, script } = closing(ok)
      const before: Array<number> = []
      assert.strictEqual(yield* close(pane, Effect.sync(() => void before.push(script.calls.length))), "closed")
      assert.deepStrictEqual(before, [0])
      const [call, ...more] = script.calls
      assert.lengthOf(more, 0)
      assert(call !== undefined)
      assert.deepStrictEqual([call.program, ...call.args], ["herdr", "pane", "close", "w1:p7"])
      assert.strictEqual(Duration.toMillis(call.deadline), 2000)
    }))

  for (const [when, told, known] of answers) {
    it.effect(`when Herdr ${when} it is ${known}, and nothing is tried again`, () =>
      Effect.gen(function*() {
        const { close, script } = closing(told)
        assert.strictEqual(yield* close(), known)
        assert.deepStrictEqual(called(script), ["pane close"])
      }))
  }

  it.effect("a Herdr that hangs is unknown after 2 s, and an interruption waits for that", () =>
    Effect.gen(function*() {
      const { close, script } = closing({ takes: "forever" })
      const seen: Array<CloseAnswer> = []
      const fiber = yield* Effect.fork(
        Effect.uninterruptible(Effect.map(close(), (known) => void seen.push(known)))
      )
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(script.calls, 1)
      yield* Fiber.interruptFork(fiber)
      yield* TestClock.adjust("1998 millis")
      assert.deepStrictEqual(seen, [])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(seen, ["unknown"])
      assert.lengthOf(script.calls, 1)
    }))

  it.effect("when the last look fails, waits or is interrupted, there is no call", () =>
    Effect.gen(function*() {
      const { close, script } = closing(ok)
      assert.strictEqual(yield* Effect.flip(close(pane, Effect.fail("late"))), "late")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(close(pane, Effect.yieldNow()))))
      assert.isTrue(Exit.isInterrupted(yield* Effect.exit(close(pane, Effect.interrupt))))
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("what is no pane of Herdr, or not on Linux, is not closed and not looked at", () =>
    Effect.gen(function*() {
      const looked = Effect.dieMessage("looked")
      const { close, script } = closing(ok)
      for (const paneId of ["", "--help", "a b", "x".repeat(257)]) {
        assert.strictEqual(yield* close({ ...pane, paneId }, looked), "not_started")
      }
      for (const os of ["darwin", "win32"] as const) {
        const there = closing(ok, { os })
        assert.strictEqual(yield* there.close(pane, looked), "not_started")
        assert.lengthOf(there.script.calls, 0)
        assert.isFalse(yield* use(script, (multiplexer) => Effect.succeed(multiplexer.canClose), { os }))
      }
      assert.isTrue(yield* use(script, (multiplexer) => Effect.succeed(multiplexer.canClose)))
      assert.lengthOf(script.calls, 0)
      assert.isFalse(Unavailable.none.canClose)
      assert.strictEqual(yield* Unavailable.none.close(pane, looked), "not_started")
    }))
})
