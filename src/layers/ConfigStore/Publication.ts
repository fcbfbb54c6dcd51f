import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type { Platform } from "../../services/Platform.ts"
import { RenameFailed } from "../../services/Platform.ts"

/** No attempt of a publication begins later than this after the first one (spec 1.4). */
const bound = Duration.millis(250)

/** The delays between attempts, ended early when the next one would pass the bound, counted from `started` (ns). */
const attempts = (started: bigint) =>
  Schedule.fromDelays("10 millis", "20 millis", "40 millis", "80 millis").pipe(
    Schedule.checkEffect((_, delay) =>
      Effect.map(Clock.currentTimeNanos, (now) =>
        Duration.lessThanOrEqualTo(Duration.sum(Duration.nanos(now - started), delay), bound))
    )
  )

const busy = (error: unknown): error is RenameFailed => error instanceof RenameFailed && error.code === "EPERM"

/**
 * Repeats a publication's attempt on Windows, and only while the rename answers `EPERM`: a scanner or an editor holds
 * the file open for a moment (spec 1.4). The first such error is the one reported. Elsewhere there is one attempt.
 * Between attempts it can be interrupted.
 */
export const bounded = <A, E>(
  os: Platform["Type"]["os"],
  attempt: Effect.Effect<A, E | RenameFailed>
): Effect.Effect<A, E | RenameFailed> =>
  os !== "win32" ? attempt : Effect.gen(function*() {
    const started = yield* Clock.currentTimeNanos
    const first = yield* Ref.make(Option.none<RenameFailed>())
    const report = (error: E | RenameFailed): Effect.Effect<never, E | RenameFailed> =>
      error instanceof RenameFailed
        ? Effect.flatMap(Ref.get(first), (kept) => Effect.fail(Option.getOrElse(kept, () => error)))
        : Effect.fail(error)
    return yield* attempt.pipe(
      Effect.tapError((error) =>
        busy(error) ? Ref.update(first, Option.orElse(() => Option.some(error))) : Effect.void
      ),
      Effect.retry({ schedule: attempts(started), while: busy }),
      Effect.catchAll(report)
    )
  })
