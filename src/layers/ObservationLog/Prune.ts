import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as path from "node:path"
import { type LogFile, logPart, maxEntries, prunable } from "../../domain/LogFiles.ts"
import { type FileFailed, lookNow } from "../Files.ts"
import { nextTurn } from "../Turns.ts"
import { removeNow } from "../Writing.ts"
import { checkLogsNow, listNow, logsOf } from "./Folder.ts"

/** So many entries are looked at in one turn: about a millisecond. */
const perTurn = 128

const look = (folder: string, name: string): LogFile | undefined => {
  const part = logPart(name)
  if (part === undefined) return undefined
  const stat = lookNow(path.join(folder, name))
  return Either.isRight(stat) && stat.right.isFile()
    ? { name, ...part, bytes: Number(stat.right.size), touchedAt: Number(stat.right.mtimeNs / 1_000_000n) }
    : undefined
}

const pruned = Effect.fn("ObservationLog.prune")(function*(root: string) {
  const folder = logsOf(root)
  yield* checkLogsNow(root)
  const { names } = yield* listNow(folder, maxEntries)
  const files: Array<LogFile> = []
  for (const [index, name] of names.entries()) {
    if (index % perTurn === 0) yield* nextTurn
    const file = look(folder, name)
    if (file !== undefined) files.push(file)
  }
  for (const [index, { name }] of prunable(files, yield* Clock.currentTimeMillis).entries()) {
    if (index % perTurn === 0) yield* nextTurn
    yield* removeNow(path.join(folder, name))
  }
})

/** Nothing waits for it: what could not be removed is left for the next time. */
const later = (failed: FileFailed): Effect.Effect<void> => Effect.logDebug(failed.message)

/** Removes the logs of a team that need not be kept (spec 7.1). */
export const prune = (root: string): Effect.Effect<void> => Effect.catchAll(pruned(root), later)
