import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { BigIntStats } from "node:fs"
import { isComplete, joined, noTrace, type Trace, traceOf } from "../../domain/Evidence.ts"
import { readRecord } from "../../domain/Observation.ts"
import { attemptNow, checkOwn, type FileFailed, withRegularNow } from "../Files.ts"
import { linesBack } from "./Lines.ts"

/** What is known of a log file, as of a look at it. */
export interface Known {
  readonly stat: BigIntStats
  /** What its records say, as far back as was needed. */
  readonly trace: Trace
  /** Not all that was needed could be read within the bound. */
  readonly cut: boolean
  /** Where the last complete line ends. */
  readonly end: number
  /** What the last read of it cost. */
  readonly bytes: number
}

const grew = (before: BigIntStats, now: BigIntStats): boolean =>
  before.ino === now.ino && before.dev === now.dev && before.size < now.size

/** The few records that say something of a session; the others need not be parsed. */
const telling = /"(?:host\.activity|runtime\.ready|runtime\.closed)"/

/** Reads back from the end of an open file until older records of `owner` cannot add anything. */
const traceBack = (fd: number, from: number, to: number, budget: number, owner: string) => {
  let trace = noTrace
  const reached = linesBack(fd, from, to, budget, (line) => {
    if (!telling.test(line)) return false
    const record = Option.getOrUndefined(readRecord(line))
    const older = record?.sessionId === owner ? traceOf(record) : undefined
    if (older === undefined) return false
    trace = joined(older, trace)
    return isComplete(trace) && trace.deciding !== undefined && older.deciding.at < trace.deciding.at
  })
  return { trace, ...reached, missed: !reached.enough && reached.start > from }
}

/**
 * What a log file says of the session that it belongs to. Of one that is known and has grown only what is new is read; at
 * most `budget` bytes in any case.
 */
export const readLogNow = (
  file: string,
  seen: BigIntStats,
  owner: string,
  known: Known | undefined,
  budget: number
): Either.Either<Known, FileFailed> =>
  withRegularNow(file, (_, fd, stat) =>
    Either.flatMap(checkOwn(file, stat, "file"), () =>
      attemptNow(file, () => {
        const size = Number(stat.size)
        const earlier = known !== undefined && grew(known.stat, stat) ? known : undefined
        const { end, missed, start, trace } = traceBack(fd, earlier?.end ?? 0, size, budget, owner)
        // What lies between what was known and what was read now could say otherwise.
        const whole = earlier === undefined || missed ? trace : joined(earlier.trace, trace)
        const cut = missed || (earlier?.cut === true && !isComplete(whole))
        return { stat, trace: whole, cut, end, bytes: size - start }
      })), Either.right(seen))
