import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import { OutcomeUnknown, Rejected, type SendError, Undelivered } from "../../../src/domain/WireErrors.ts"
import { makeDeadline } from "../../../src/programs/close/Deadline.ts"
import { untilDecided } from "../../../src/programs/close/Repeat.ts"

const undelivered = new Undelivered({ reason: "refused" })
const unknown = new OutcomeUnknown({ reason: "deadline" })
const undecided = new Rejected({ status: 503, sentence: "it could not decide in time" })
const no = new Rejected({ status: 409, sentence: "no", code: "commit_rejected" })
const unusable = new StateUnusable({ path: "/state", detail: "no", mend: "Mend it." })

type Answer = SendError | StateUnusable | "accepted"

const repeat = (answer: Answer, times: number): [Answer, ...ReadonlyArray<Answer>] => [
  answer,
  ...Array.from({ length: times - 1 }, () => answer)
]
const late = 1e9

/** Sends to a peer that answers so, one after the other and then the last one for ever; `at` are the times of the sends. */
const sending = (answers: readonly [Answer, ...ReadonlyArray<Answer>], deadlineAt = 120_000, most?: number) =>
  Effect.gen(function*() {
    const at: Array<number> = []
    const send = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const answer = answers[Math.min(at.push(now), answers.length) - 1]
      return answer === undefined || answer === "accepted" ? Effect.void : Effect.fail(answer)
    })
    const fiber = yield* Effect.fork(untilDecided(send, yield* makeDeadline(deadlineAt), most))
    return { at, fiber }
  })

/** How it ends, as far as the clock is moved. */
const sent = (...args: Parameters<typeof sending>) =>
  Effect.gen(function*() {
    const { at, fiber } = yield* sending(...args)
    yield* TestClock.adjust("200 seconds")
    return { at, outcome: yield* Fiber.join(fiber) }
  })

describe("sending a message of a close job", () => {
  it.effect("is once, when it is accepted", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* sent(["accepted"]), { at: [0], outcome: "accepted" })
    }))

  for (
    const [what, failure] of [
      ["was not delivered", undelivered],
      ["may have arrived", unknown],
      ["could not be decided about", undecided],
      ["cannot be signed now", unusable]
    ] as const
  ) {
    it.effect(`goes on after 0.25, 0.5, 1, 2, 2, 2 s when it ${what}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* sent([...repeat(failure, 6), "accepted"]), {
          at: [0, 250, 750, 1_750, 3_750, 5_750, 7_750],
          outcome: "accepted"
        })
      }))
  }

  for (const status of [400, 401, 403, 404, 409, 413, 500]) {
    it.effect(`ends with a refusal (${status})`, () =>
      Effect.gen(function*() {
        const refusal = new Rejected({ status, sentence: "no", code: "worker_changed" })
        const { at, outcome } = yield* sent([unknown, refusal, "accepted"])
        assert.deepStrictEqual(at, [0, 250])
        assert.strictEqual(outcome, refusal)
      }))
  }

  it.effect("ends at the deadline, in the midst of a wait, without one more", () =>
    Effect.gen(function*() {
      const { at, fiber } = yield* sending([undelivered], 3_000)
      yield* TestClock.adjust("2999 millis")
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "None")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(fiber), "deadline")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(at, [0, 250, 750, 1_750])
    }))

  it.effect("is not begun after the deadline", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* sent(["accepted"], 2_000), { at: [], outcome: "deadline" })
    }))

  it.effect("of message 1 ends after two that surely were not sent, whatever lay between", () =>
    Effect.gen(function*() {
      for (
        const [answers, sends] of [
          [[undelivered, undelivered], 2],
          [[unusable, undelivered], 2],
          [[undelivered, unknown, undecided, undelivered], 4]
        ] as const
      ) {
        const { at, outcome } = yield* sent([...answers, "accepted"], late, 2)
        assert.strictEqual(outcome, "undelivered")
        assert.lengthOf(at, sends)
      }
      assert.strictEqual((yield* sent([undelivered, "accepted"], late, 2)).outcome, "accepted")
      assert.strictEqual((yield* sent([undelivered, no], late, 2)).outcome, no)
      // What may have arrived is none of them.
      assert.strictEqual((yield* sent([...repeat(unknown, 5), "accepted"], late, 2)).outcome, "accepted")
    }))

  it.effect("stops when whoever learns otherwise that it arrived interrupts it", () =>
    Effect.gen(function*() {
      const { at, fiber } = yield* sending([unknown])
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(at, [0, 250, 750])
    }))
})
