import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"

/** Fibers that can vanish together, as those of a killed process do: nothing of them runs any more, no finalizer either. */
export interface StepProcess {
  /** Begins at the next step of the machine, or at once when nothing else runs. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  readonly kill: () => void
  readonly alive: () => boolean
}

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
  /** Milliseconds since the start: the monotonic clock. */
  readonly now: () => number
  /** The wall clock: ahead of the monotonic one by what it started with and was set by since. */
  readonly wall: () => number
  /** Sets the wall clock forward or, negative, back; nobody sleeps by it. */
  readonly jump: (millis: number) => void
  /** Calls back between two steps, that much later; answers what takes it back. */
  readonly after: (millis: number, run: () => void) => () => void
  readonly process: () => StepProcess
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** More than anything needs at one moment that ever comes to an end. */
const mostRounds = 100_000

/** A machine at time 0 with nothing running; its wall clock starts at `start`. */
export const makeStepMachine = (start = 0): StepMachine => {
  let tasks: Array<() => void> = []
  /** In the order in which they wake. */
  const sleepers: Array<Sleeper> = []
  let now = 0
  let ahead = start
  let settling = false

  const after = (millis: number, wake: () => void) => {
    const sleeper: Sleeper = { at: now + millis, wake }
    let place = sleepers.length
    for (
      let before = sleepers[place - 1];
      before !== undefined && before.at > sleeper.at;
      before = sleepers[place - 1]
    ) {
      place -= 1
    }
    sleepers.splice(place, 0, sleeper)
    return () => {
      const index = sleepers.indexOf(sleeper)
      if (index >= 0) sleepers.splice(index, 1)
    }
  }

  const nanos = () => BigInt(Math.round(now * 1_000_000))
  const wall = () => now + ahead
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: wall,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(wall),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const stop = after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(stop)
      })
  }

  const settle = () => {
    if (settling) return
    settling = true
    for (let rounds = 0; tasks.length > 0; rounds += 1) {
      if (rounds > mostRounds) throw new Error(`What runs at ${now} ms never waits.`)
      const ready = tasks
      tasks = []
      for (const task of ready) task()
    }
    settling = false
  }
  const advance = (millis: number) => {
    const end = now + millis
    let [at, woken] = [now, 0]
    settle()
    for (let next = sleepers[0]; next !== undefined && next.at <= end; next = sleepers[0]) {
      sleepers.shift()
      now = Math.max(now, next.at)
      woken = at === now ? woken + 1 : 0
      at = now
      if (woken > mostRounds) throw new Error(`What runs at ${now} ms only sleeps for no time.`)
      next.wake()
      settle()
    }
    now = end
  }

  const process = (): StepProcess => {
    let alive = true
    const scheduler: Scheduler.Scheduler = {
      shouldYield: () => false,
      scheduleTask: (task) =>
        void tasks.push(() => {
          if (alive) task()
        })
    }
    return {
      fork: (effect) => {
        const fiber = Effect.runFork(effect.pipe(Effect.withClock(clock)), { scheduler, immediate: !settling })
        settle()
        return fiber
      },
      kill: () => {
        alive = false
      },
      alive: () => alive
    }
  }

  return {
    fork: process().fork,
    advance,
    settle,
    now: () => now,
    wall,
    jump: (millis) => void (ahead += millis),
    after,
    process
  }
}
