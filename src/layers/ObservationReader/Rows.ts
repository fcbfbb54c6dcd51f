import * as Either from "effect/Either"
import type { BigIntStats } from "node:fs"
import { isComplete, joined, newest, noTrace, type Trace } from "../../domain/Evidence.ts"
import { logNames } from "../../domain/LogFiles.ts"
import { sameFile } from "../Files.ts"
import { type Known, readLogNow } from "./Log.ts"
import { forget, type Look, lookAt } from "./Look.ts"

/** At most so much is read of one worker's logs in one look (spec 7.3). */
const workerBytes = 128 * 1024
/** A kernel stamps files coarsely, and by another clock than a record was stamped by. */
const stampMs = 2000

/** What the logs of a session say; `cut` when not all that was needed fitted its bound. */
export interface Row {
  readonly trace: Trace
  readonly cut: boolean
}

interface File {
  readonly name: string
  readonly stat: BigIntStats
}

/** The log of one writer, as it was found; `moved` when not all of the files that were listed are there. */
interface Log {
  readonly writerId: string
  readonly own: ReadonlyArray<File>
  readonly moved: boolean
  readonly touchedAt: number
}

const filesOf = (look: Look, writerId: string): ReadonlyArray<File> =>
  (look.writers.get(writerId) ?? []).flatMap(({ name }) => {
    const stat = look.statOf(name)
    return stat === undefined ? [] : [{ name, stat }]
  })

const touched = ({ stat }: File): number => Number(stat.mtimeNs / 1_000_000n)

/** Remembers how far each log file was read, and what it said. */
export const make = () => {
  const files = new Map<string, Known>()

  const readNow = (look: Look, { name, stat }: File, owner: string, budget: number) => {
    const known = files.get(name)
    if (known !== undefined && sameFile(known.stat, stat)) return Either.right(known)
    const read = readLogNow(look.fileOf(name), stat, owner, known, budget)
    if (Either.isRight(read)) files.set(name, read.right)
    else look.note(read.left)
    return read
  }

  /**
   * What one writer's files say together, the newest first, as far back as needed; `blind` when what was not read could
   * be newer than what older files say.
   */
  const ofFiles = (look: Look, own: ReadonlyArray<File>, owner: string, budget: number) => {
    let [trace, left, moved] = [noTrace, budget, false]
    for (const file of own) {
      if (left <= 0) return { trace, left, cut: true, blind: true, moved }
      const read = readNow(look, file, owner, left)
      if (Either.isLeft(read)) {
        moved = true
        if (read.left.reason !== "absent") return { trace, left, cut: false, blind: true, moved }
        continue
      }
      const known = read.right
      moved ||= known.stat.ino !== file.stat.ino
      left -= known.bytes
      trace = joined(known.trace, trace)
      if (isComplete(trace)) break
      if (known.cut) return { trace, left, cut: true, blind: true, moved }
    }
    return { trace, left, cut: false, blind: false, moved }
  }

  /** The same of a writer that may have rotated or closed its files since the look began: then they are looked for anew. */
  const ofWriter = (look: Look, log: Log, owner: string, budget: number) => {
    const found = ofFiles(look, log.own, owner, budget)
    if (!log.moved && !found.moved) return found
    const again = lookAt(look.folder, logNames(log.writerId))
    const anew = ofFiles(again, filesOf(again, log.writerId), owner, budget)
    return { ...anew, blind: anew.blind || again.failed() }
  }

  /** What the newest logs of a session say, which these writers wrote. */
  const row = (look: Look, owner: string, writers: ReadonlyArray<string>): Row => {
    const logs = writers.map((writerId): Log => {
      const own = filesOf(look, writerId)
      const moved = own.length < (look.writers.get(writerId) ?? []).length
      return { writerId, own, moved, touchedAt: moved ? Infinity : Math.max(...own.map(touched)) }
    })
    let found: Row = { trace: noTrace, cut: false }
    let left = workerBytes
    for (const log of logs.toSorted((a, b) => b.touchedAt - a.touchedAt)) {
      // Nothing in it can be as new as what is known.
      if (log.touchedAt + stampMs < (found.trace.deciding?.at ?? 0)) break
      const next = ofWriter(look, log, owner, left)
      left = next.left
      found = { trace: newest(found.trace, next.trace), cut: found.cut || next.cut }
      // An older start's status is not this one's.
      if (next.blind && found.trace.deciding === undefined) break
    }
    return found
  }

  return {
    row,
    /** A file as it was when it was read last. */
    statOf: (name: string) => files.get(name)?.stat,
    forget: (there: ReadonlySet<string>) => forget(files, (name) => there.has(name))
  }
}
