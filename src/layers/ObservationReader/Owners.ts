import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { BigIntStats } from "node:fs"
import { maxRecordBytes, readRecord } from "../../domain/Observation.ts"
import { attemptNow, checkOwn, type FileFailed, readInto, sameFile, withRegularNow } from "../Files.ts"
import { forget, type Look } from "./Look.ts"

/** The beginning of one file after the other, since memory for each would be garbage at once. */
const head = Buffer.allocUnsafeSlow(2 * maxRecordBytes)
const newline = 0x0a

/** The session of the first line of these that is a record. */
const firstOwner = (bytes: Buffer): Option.Option<string> => {
  let start = 0
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    const record = readRecord(bytes.toString("utf8", start, end))
    if (Option.isSome(record)) return Option.some(record.value.sessionId)
    start = end + 1
  }
  return Option.none()
}

/** Whose log a file is, by its first record; none while it has none that can be read. */
const ownerNow = (file: string, seen: BigIntStats): Either.Either<Option.Option<string>, FileFailed> =>
  withRegularNow(
    file,
    (_, fd, stat) =>
      Either.flatMap(checkOwn(file, stat, "file"), () =>
        attemptNow(file, () => firstOwner(readInto(head.subarray(0, Number(stat.size)), fd)))),
    Either.right(seen)
  )

/** A file that was read in vain, as it was then. */
interface Vain {
  readonly stat: BigIntStats
  readonly error: FileFailed | undefined
}

/** Remembers by a writer's id whose its logs are: a file's first record says so (spec 7.3). */
export const make = () => {
  const owners = new Map<string, string>()
  const vain = new Map<string, Vain>()

  /** Forgets the writers that have no files any more, and answers those whose session is not known. */
  const unknown = (look: Look): ReadonlyArray<string> => {
    forget(owners, (writerId) => look.writers.has(writerId))
    return [...look.writers.keys()].filter((writerId) => !owners.has(writerId))
  }

  const readFirst = (look: Look, name: string, stat: BigIntStats): string | undefined => {
    const before = vain.get(name)
    if (before !== undefined && sameFile(before.stat, stat)) {
      if (before.error !== undefined) look.note(before.error)
      return undefined
    }
    const owner = ownerNow(look.fileOf(name), stat)
    if (Either.isRight(owner) && Option.isSome(owner.right)) return owner.right.value
    const error = Option.getOrUndefined(Either.getLeft(owner))
    if (error !== undefined) look.note(error)
    vain.set(name, { stat, error })
    return undefined
  }

  /** Looks whose a writer is. */
  const learn = (look: Look, writerId: string): void => {
    for (const { name } of look.writers.get(writerId) ?? []) {
      const stat = look.statOf(name)
      const owner = stat === undefined ? undefined : readFirst(look, name, stat)
      if (owner === undefined) continue
      owners.set(writerId, owner)
      return
    }
  }

  /** The writers of each session, of what is known. */
  const bySession = (): ReadonlyMap<string, ReadonlyArray<string>> => {
    const sessions = new Map<string, Array<string>>()
    for (const [writerId, owner] of owners) {
      const own = sessions.get(owner)
      if (own === undefined) sessions.set(owner, [writerId])
      else own.push(writerId)
    }
    return sessions
  }

  return { unknown, learn, bySession, forget: (there: ReadonlySet<string>) => forget(vain, (name) => there.has(name)) }
}
