import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as TestClock from "effect/TestClock"
import { makeDeadline, within } from "../../../src/programs/close/Deadline.ts"

/** The clock of the test, whose wall goes `skew.ms` ahead of the time since it started. */
const jumping = Effect.map(Effect.clock, (clock) => {
  const skew = { ms: 0 }
  const wall: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    sleep: (duration) => clock.sleep(duration),
    currentTimeNanos: clock.currentTimeNanos,
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + skew.ms),
    unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + skew.ms
  }
  return { skew, use: Effect.withClock(wall) }
})

/** Whether a fiber has ended after the clock went on by so much. */
const endedAfter = (fiber: Fiber.Fiber<unknown>, duration: `${number} millis`) =>
  Effect.map(Effect.zipRight(TestClock.adjust(duration), Fiber.poll(fiber)), ({ _tag }) => _tag === "Some")

describe("the deadline of a close job", () => {
  it.effect("has passed at its time, not a millisecond before", () =>
    Effect.gen(function*() {
      const deadline = yield* makeDeadline(5_500)
      const reached = yield* Effect.fork(deadline.reached)
      assert.isFalse(yield* endedAfter(reached, "5499 millis"))
      assert.isFalse(yield* deadline.passed)
      assert.isTrue(yield* endedAfter(reached, "1 millis"))
      assert.isTrue(yield* deadline.passed)
    }))

  it.effect("has passed at once when it lies in the past", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("10 seconds")
      for (const at of [-1, 9_999, 10_000]) {
        const deadline = yield* makeDeadline(at)
        assert.isTrue(yield* deadline.passed)
        yield* deadline.reached
      }
    }))

  it.effect("is not put off by a wall clock that jumps back: the time since it was set counts too", () =>
    Effect.gen(function*() {
      const { skew, use } = yield* jumping
      const deadline = yield* use(makeDeadline(5_000))
      const reached = yield* Effect.fork(use(deadline.reached))
      skew.ms = -3_600_000
      assert.isFalse(yield* endedAfter(reached, "4999 millis"))
      assert.isTrue(yield* endedAfter(reached, "1 millis"))
      assert.isTrue(yield* use(deadline.passed))
    }))

  it.effect("has passed when the wall clock jumps past it, and that is noticed within a second", () =>
    Effect.gen(function*() {
      const { skew, use } = yield* jumping
      const deadline = yield* use(makeDeadline(120_000))
      const reached = yield* Effect.fork(use(deadline.reached))
      assert.isFalse(yield* endedAfter(reached, "1500 millis"))
      skew.ms = 120_000
      assert.isTrue(yield* use(deadline.passed))
      assert.isTrue(yield* endedAfter(reached, "1000 millis"))
    }))
})

describe("an effect within a deadline", () => {
  it.effect("does not begin after it", () =>
    Effect.gen(function*() {
      const deadline = yield* makeDeadline(0)
      assert.strictEqual(yield* within(deadline, Effect.dieMessage("begun")), "deadline")
    }))

  it.effect("answers or fails as it does before it", () =>
    Effect.gen(function*() {
      const deadline = yield* makeDeadline(10)
      assert.strictEqual(yield* within(deadline, Effect.succeed(1)), 1)
      assert.strictEqual(yield* Effect.flip(within(deadline, Effect.fail("no"))), "no")
    }))

  it.effect("is interrupted by it, and its release is waited for", () =>
    Effect.gen(function*() {
      const deadline = yield* makeDeadline(1_000)
      const released = yield* Ref.make(false)
      const fiber = yield* Effect.fork(
        within(deadline, Effect.onInterrupt(Effect.never, () => Ref.set(released, true)))
      )
      assert.isFalse(yield* endedAfter(fiber, "999 millis"))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(fiber), "deadline")
      assert.isTrue(yield* Ref.get(released))
    }))
})
