import * as Either from "effect/Either"
import type { BigIntStats } from "node:fs"
import * as path from "node:path"
import { type LogPart, logPart } from "../../domain/LogFiles.ts"
import { checkOwn, type FileFailed, lookNow, sameFile } from "../Files.ts"

/** A file of a writer's log. */
export interface Entry {
  readonly name: string
  readonly part: LogPart
}

/** One look at a log folder: what lies there, each file as it was when it was first asked for. */
export interface Look {
  readonly folder: string
  /** The files of each writer, the newest first. */
  readonly writers: ReadonlyMap<string, ReadonlyArray<Entry>>
  readonly fileOf: (name: string) => string
  /** A regular file of this user; undefined, and noted, for anything else. */
  readonly statOf: (name: string) => BigIntStats | undefined
  /** Notes that a file could not be read; one that went away meanwhile is none that could not. */
  readonly note: (error: FileFailed) => void
  /** Whether a file could not be read. */
  readonly failed: () => boolean
}

const order: Readonly<Record<LogPart, number>> = { closed: 0, current: 1, 1: 2, 2: 3 }

const byWriter = (names: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<Entry>> => {
  const writers = new Map<string, Array<Entry>>()
  for (const name of names) {
    const found = logPart(name)
    if (found === undefined) continue
    const entries = writers.get(found.writerId)
    if (entries === undefined) writers.set(found.writerId, [{ name, part: found.part }])
    else entries.push({ name, part: found.part })
  }
  for (const entries of writers.values()) entries.sort((a, b) => order[a.part] - order[b.part])
  return writers
}

/**
 * Begins a look at these names in a folder. Of a file that is as it was at an earlier look that one's answer is used again:
 * hundreds of new ones would have to be moved by every collection of garbage while the look lasts.
 */
export const lookAt = (
  folder: string,
  names: ReadonlyArray<string>,
  earlier: (name: string) => BigIntStats | undefined = () => undefined
): Look => {
  const stats = new Map<string, BigIntStats | undefined>()
  let failed = false
  // Not joined: that normalises the whole path anew for each of hundreds of names.
  const fileOf = (name: string): string => `${folder}${path.sep}${name}`
  const note = (error: FileFailed): void => {
    failed ||= error.reason !== "absent"
  }
  const statNow = (name: string): BigIntStats | undefined => {
    const file = fileOf(name)
    const found = Either.flatMap(lookNow(file), (stat) => Either.map(checkOwn(file, stat, "file"), () => stat))
    if (Either.isRight(found)) {
      const before = earlier(name)
      return before !== undefined && sameFile(before, found.right) ? before : found.right
    }
    note(found.left)
    return undefined
  }
  const statOf = (name: string): BigIntStats | undefined => {
    if (!stats.has(name)) stats.set(name, statNow(name))
    return stats.get(name)
  }
  return { folder, writers: byWriter(names), fileOf, statOf, note, failed: () => failed }
}

/** Forgets what is not there any more. */
export const forget = (memory: Map<string, unknown>, isThere: (key: string) => boolean): void => {
  for (const key of memory.keys()) if (!isThere(key)) memory.delete(key)
}
