import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The one deadline of a job: past when the wall clock or the time since it was set says so (spec 6.1). */
export interface Deadline {
  readonly passed: Effect.Effect<boolean>
  /** Waits until it has passed; the clocks are looked at each second at least. */
  readonly reached: Effect.Effect<void>
}

const lookMs = 1_000

/** The deadline at `at`, ms since the epoch, as of now: later jumps of the wall clock cannot put it off. */
export const makeDeadline = (at: number): Effect.Effect<Deadline> =>
  Effect.gen(function*() {
    const wall = yield* Clock.currentTimeMillis
    const end = (yield* Clock.currentTimeNanos) + BigInt(Math.max(0, Math.ceil(at - wall))) * 1_000_000n
    const leftMs = Effect.zipWith(
      Clock.currentTimeMillis,
      Clock.currentTimeNanos,
      (now, nanos) => Math.min(at - now, Number(end - nanos) / 1e6)
    )
    const reached: Effect.Effect<void> = Effect.flatMap(
      leftMs,
      (left) => left <= 0 ? Effect.void : Effect.zipRight(Effect.sleep(Math.min(left, lookMs)), reached)
    )
    return { passed: Effect.map(leftMs, (left) => left <= 0), reached }
  })

/** Runs an effect until the deadline: none when that has passed before it, or comes first and interrupts it. */
export const within = <A, E, R>(
  deadline: Deadline,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A | "deadline", E, R> =>
  Effect.flatMap(
    deadline.passed,
    (passed): Effect.Effect<A | "deadline", E, R> =>
      passed
        ? Effect.succeed("deadline")
        : Effect.raceFirst(effect, Effect.as(deadline.reached, "deadline" as const))
  )
