import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { instantAfter, isDeciding } from "../../domain/Evidence.ts"
import { maxWaiting } from "../../domain/LogFiles.ts"
import { type Observation, recordLine } from "../../domain/Observation.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { Ids } from "../../services/Ids.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import type { FileFailed } from "../Files.ts"
import { prune } from "./Prune.ts"
import * as Writer from "./Writer.ts"

/** What is recorded meanwhile goes into one write, and none of it into the way of what is being done just now. */
const gather = "10 millis"
/** What the end of a session waits for its log (spec 3.1). */
const farewell = "250 millis"

interface Waiting {
  readonly at: number
  readonly observation: Observation
}

const make = (sessionId: SessionId): Effect.Effect<ObservationLog["Type"], never, Ids | Scope.Scope> =>
  Effect.gen(function*() {
    const writerId = yield* (yield* Ids).uuid
    const root = yield* Deferred.make<string>()
    const ending = yield* Deferred.make<void>()
    const wake = yield* Effect.makeLatch(false)
    let waiting: Array<Waiting> = []
    let dropped = 0
    let taking = true
    let decidedAt = 0

    const stamp = (now: number, { event }: Observation): number => {
      if (!isDeciding(event)) return now
      decidedAt = instantAfter(decidedAt, now)
      return decidedAt
    }

    const take = (now: number, observation: Observation): void => {
      if (!taking) {
        dropped += 1
        return
      }
      // The newest say what the session does now.
      if (waiting.length === maxWaiting) {
        waiting.shift()
        dropped += 1
      }
      waiting.push({ at: stamp(now, observation), observation })
      wake.unsafeOpen()
    }

    const record = (observation: Observation) =>
      Effect.clockWith((clock) => {
        take(clock.unsafeCurrentTimeMillis(), observation)
        return Effect.void
      })

    const lineOf = ({ at, observation }: Waiting) =>
      recordLine({ timestamp: DateTime.formatIso(DateTime.unsafeMake(at)), writerId, sessionId }, observation)

    /** Writes all that wait. */
    const flush = (writer: Writer.Writer) =>
      Effect.suspend(() => {
        const all = waiting
        waiting = []
        wake.unsafeClose()
        const lines = all.map(lineOf).filter(Option.isSome).map((line) => line.value)
        dropped += all.length - lines.length
        return lines.length === 0
          ? Effect.void
          : Effect.tapError(writer.append(lines), () => Effect.sync(() => (dropped += lines.length)))
      })

    /** Waits for records and writes them; true once the session has ended and its log is complete. */
    const step = (writer: Writer.Writer): Effect.Effect<boolean, FileFailed> =>
      Effect.gen(function*() {
        yield* wake.await
        const ends = Option.isSome(yield* Effect.timeoutOption(Deferred.await(ending), gather))
        yield* flush(writer)
        if (ends) yield* writer.finish
        return ends
      })

    const write = (writer: Writer.Writer) => Effect.repeat(step(writer), { until: (ended) => ended })

    /** A write that failed ends this writer, and is said once; messages do not depend on it. */
    const disable = (failed: FileFailed) =>
      Effect.suspend(() => {
        taking = false
        dropped += waiting.length
        waiting = []
        return Effect.logWarning(
          "The monitor and intercom_worker_status cannot see from now on what this session does, since its log could " +
            `not be written: ${failed.message}. Messages are not affected; /reload begins a new log.`
        )
      })

    // No child of whoever is interrupted at the end: it ends by itself.
    const fiber = yield* Deferred.await(root).pipe(
      Effect.flatMap((team) => write(Writer.make(team, writerId))),
      Effect.catchAll(disable),
      Effect.forkDaemon
    )
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        if (!(yield* Deferred.isDone(root))) return yield* Fiber.interruptFork(fiber)
        yield* record({ event: "runtime.closed" })
        taking = false
        yield* Deferred.succeed(ending, undefined)
        yield* Fiber.await(fiber).pipe(Effect.interruptible, Effect.timeoutOption(farewell))
      })
    )

    return {
      record,
      open: (team) => Effect.asVoid(Deferred.succeed(root, team)),
      prune,
      dropped: Effect.sync(() => dropped)
    }
  })

/**
 * The log of one session start, in files of its own below the team's folder. Closing the scope writes what waits, for at
 * most 250 ms.
 */
export const layer = (sessionId: SessionId): Layer.Layer<ObservationLog, never, Ids> =>
  Layer.scoped(ObservationLog, make(sessionId))
