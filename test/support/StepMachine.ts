import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"

/**
 * Fibers on a clock and a scheduler of our own: nothing happens but what the test lets happen, and everything that can
 * happen without waiting has happened when a method returns. Thousands of schedules a second, where TestClock takes
 * milliseconds a step.
 */
export interface StepMachine {
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  /** Lets time pass; what sleeps until then wakes in order. */
  readonly advance: (millis: number) => void
  /** Runs what is ready. */
  readonly settle: () => void
  readonly now: () => number
}

/** A machine at time 0 with nothing running. */
export const makeStepMachine = (): StepMachine => {
  const tasks: Array<() => void> = []
  let sleepers: Array<{ readonly at: number; readonly wake: () => void }> = []
  let now = 0

  const scheduler: Scheduler.Scheduler = {
    shouldYield: () => false,
    scheduleTask: (task) => void tasks.push(task)
  }
  const nanos = () => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        sleepers.push(sleeper)
        return Effect.sync(() => {
          sleepers = sleepers.filter((other) => other !== sleeper)
        })
      })
  }

  const settle = () => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task()
  }
  const advance = (millis: number) => {
    const end = now + millis
    settle()
    for (;;) {
      const next = Math.min(...sleepers.map(({ at }) => at))
      if (next > end) break
      now = next
      const due = sleepers.filter(({ at }) => at === next)
      sleepers = sleepers.filter(({ at }) => at !== next)
      for (const { wake } of due) wake()
      settle()
    }
    now = end
  }

  return {
    fork: (effect) => {
      const fiber = Effect.runFork(effect.pipe(Effect.withClock(clock)), { scheduler })
      settle()
      return fiber
    },
    advance,
    settle,
    now: () => now
  }
}
