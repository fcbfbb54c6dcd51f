import * as Either from "effect/Either"
import type { BigIntStats, Dir } from "node:fs"
import * as fs from "node:fs"
import * as path from "node:path"
import { folderOf } from "../ConfigReader/TeamFile.ts"
import { attemptNow, checkTrusted, type FileFailed, lookNow } from "../Files.ts"

/** The folder of a team's logs. */
export const logsOf = (root: string): string => path.join(folderOf(root), "logs")

const checkFolder = (folder: string): Either.Either<BigIntStats, FileFailed> =>
  Either.flatMap(lookNow(folder), (stat) => Either.map(checkTrusted(folder, stat, "folder"), () => stat))

/** Refuses a team's folder or log folder that is a link, not this user's or everybody's (spec 7.1). */
export const checkLogsNow = (root: string): Either.Either<BigIntStats, FileFailed> =>
  Either.flatMap(checkFolder(folderOf(root)), () => checkFolder(logsOf(root)))

/** Makes the log folder, private, unless it is there; refused as in {@link checkLogsNow}. */
export const makeLogsNow = (root: string): Either.Either<BigIntStats, FileFailed> =>
  Either.flatMap(checkFolder(folderOf(root)), () => {
    const made = attemptNow(logsOf(root), () => fs.mkdirSync(logsOf(root), { mode: 0o700 }))
    return Either.isLeft(made) && made.left.reason !== "exists" ? Either.left(made.left) : checkFolder(logsOf(root))
  })

const readNames = (dir: Dir, max: number): { readonly names: ReadonlyArray<string>; readonly more: boolean } => {
  const names: Array<string> = []
  for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
    if (names.length === max) return { names, more: true }
    names.push(entry.name)
  }
  return { names, more: false }
}

/** The first `max` names in a folder, in the order of the disk, and whether there are more. */
export const listNow = (folder: string, max: number) =>
  Either.flatMap(attemptNow(folder, () => fs.opendirSync(folder, { bufferSize: 512 })), (dir) => {
    const listed = attemptNow(folder, () => readNames(dir, max))
    return Either.flatMap(attemptNow(folder, () => dir.closeSync()), () => listed)
  })
