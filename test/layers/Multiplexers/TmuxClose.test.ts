import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import type { CloseAnswer, VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { CommandFailed } from "../../../src/services/CommandRunner.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { inWorld, own, worker } from "./TmuxWorld.ts"

const pane: VerifiedPane = { workspaceId: "tmux:77:1000", paneId: "%4", terminalId: "/dev/pts/2", firstPid: 100 }

/** What tmux can do with the command, and what is known then. */
const answers: ReadonlyArray<readonly [string, Behaviour, CloseAnswer]> = [
  ["says that it closed it", { stdout: "closed\n" }, "closed"],
  ["says that it is another one", { stdout: "mismatch\n" }, "mismatch"],
  ["is not installed", { fails: "missing" }, "not_started"],
  ["cannot be started", { fails: "not_started" }, "not_started"],
  ["is killed", { fails: "signal" }, "unknown"],
  ["says nothing", {}, "unknown"],
  ["says something else", { stdout: "closed?\n" }, "unknown"],
  ["says too much", { stdout: "x".repeat(65 * 1024) }, "unknown"],
  ["fails though it closed it", { code: 1, stdout: "closed\n" }, "unknown"],
  ["refuses", { code: 1, stderr: "can't find pane: %4\n" }, "unknown"],
  ["finds no server", { code: 1, stderr: "no server running on /tmp/s\n" }, "unknown"],
  ["loses the server", { code: 1, stderr: "server exited unexpectedly\n" }, "unknown"]
]

describe("closing a tmux pane, scripted", () => {
  it.effect("what is verified is the pane with its first process, also where that is another than Pi", () =>
    Effect.gen(function*() {
      const { verify } = inWorld({})
      assert.deepStrictEqual(yield* verify(), pane)
      assert.deepStrictEqual(yield* verify({ pid: 101, processStart: "3100" }), pane)
      const grouped = (own + worker) + (own + worker).replaceAll("$1", "$2")
      assert.deepStrictEqual(yield* inWorld({ list: { stdout: grouped } }).verify(), pane)
    }))

  it.effect("is one call, exactly this one, for 2 s, after the last look", () =>
    Effect.gen(function*() {
      const { close, script } = inWorld({})
      const before: Array<number> = []
      assert.strictEqual(yield* close(pane, Effect.sync(() => void before.push(script.calls.length))), "closed")
      assert.deepStrictEqual(before, [0])
      const [call, ...more] = script.calls
      assert.lengthOf(more, 0)
      assert(call !== undefined)
      assert.strictEqual(call.program, "tmux")
      assert.deepStrictEqual(call.args, [
        "-u",
        "-S",
        "/tmp/s",
        "if-shell",
        "-F",
        "-t",
        "%4",
        "#{&&:#{&&:#{==:#{pid},77},#{==:#{pane_dead},0}},#{&&:#{==:#{pane_pid},100},#{==:#{pane_tty},/dev/pts/2}}}",
        "kill-pane -t %4 ; display-message -p closed",
        "display-message -p mismatch"
      ])
      assert.strictEqual(Duration.toMillis(call.deadline), 2000)
    }))

  for (const [when, closing, answer] of answers) {
    it.effect(`when tmux ${when} it is ${answer}, and nothing is tried again`, () =>
      Effect.gen(function*() {
        const { close, script } = inWorld({ closing })
        assert.strictEqual(yield* close(pane), answer)
        assert.lengthOf(script.calls, 1)
      }))
  }

  it.effect("a server that hangs is unknown after 2 s, and no interruption ends the call before", () =>
    Effect.gen(function*() {
      const { close, script } = inWorld({ closing: { takes: "forever" } })
      const seen: Array<CloseAnswer> = []
      const call = Effect.uninterruptibleMask((restore) =>
        Effect.map(restore(close(pane)), (answer) => void seen.push(answer))
      )
      const [patient, interrupted] = [yield* Effect.fork(call), yield* Effect.fork(close(pane))]
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(script.calls, 2)
      const interruption = yield* Effect.fork(Fiber.interrupt(interrupted))
      yield* TestClock.adjust("1998 millis")
      assert.isNull(interruption.unsafePoll())
      assert.deepStrictEqual(seen, [])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(patient)
      assert.deepStrictEqual(seen, ["unknown"])
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(interruption)))
      assert.lengthOf(script.calls, 2)
    }))

  it.effect("when the last look fails its error is the caller's, whatever it is, and there is no call", () =>
    Effect.gen(function*() {
      const { close, script } = inWorld({})
      const errors = ["late", new CommandFailed({ reason: "missing", program: "x" }), { _tag: "NotToBe", error: 1 }]
      for (const error of errors) assert.strictEqual(yield* Effect.flip(close(pane, Effect.fail(error))), error)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(close(pane, Effect.yieldNow()))))
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("an interruption before the step starts nothing", () =>
    Effect.gen(function*() {
      const { close, script } = inWorld({})
      yield* Fiber.interrupt(yield* Effect.fork(close(pane)))
      const inLook = yield* Effect.exit(close(pane, Effect.interrupt))
      assert.isTrue(Exit.isInterrupted(inLook))
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("what is no verified pane of tmux, or not on Linux in tmux, is not closed and not looked at", () =>
    Effect.gen(function*() {
      const looked = Effect.dieMessage("looked")
      const { canClose, close, script } = inWorld({})
      assert.isTrue(yield* canClose)
      const herdr = { workspaceId: "w1", paneId: "w1:p1", terminalId: "term-1", firstPid: undefined }
      for (const other of [herdr, { ...pane, firstPid: undefined }, { ...pane, paneId: "" }]) {
        assert.strictEqual(yield* close(other, looked), "not_started")
      }
      assert.strictEqual(yield* inWorld({ variables: {} }).close(pane, looked), "not_started")
      for (const os of ["darwin", "win32"] as const) {
        const there = inWorld({ os })
        assert.isFalse(yield* there.canClose)
        assert.strictEqual(yield* there.close(pane, looked), "not_started")
        assert.lengthOf(there.script.calls, 0)
      }
      assert.lengthOf(script.calls, 0)
    }))
})
