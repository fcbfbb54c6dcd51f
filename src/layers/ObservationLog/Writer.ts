import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fs from "node:fs"
import * as path from "node:path"
import { logName, maxLogBytes } from "../../domain/LogFiles.ts"
import { attemptNow, closeNow, failure, type FileFailed } from "../Files.ts"
import { logsOf, makeLogsNow } from "./Folder.ts"

/** The files of one writer of logs. */
export interface Writer {
  /** Appends lines, each with its newline, in one write unless they need another file. After a failure it is not used. */
  readonly append: (lines: ReadonlyArray<string>) => Effect.Effect<void, FileFailed>
  /** The orderly end: what was written is left as `.jsonl.closed`. */
  readonly finish: Effect.Effect<void, FileFailed>
}

// Appending cannot overwrite what is there, and exclusive creation follows no link.
const openNow = (file: string) => attemptNow(file, () => fs.openSync(file, "ax", 0o600))

const write = (file: string, fd: number, text: string): Effect.Effect<void, FileFailed> =>
  Effect.async((resume) => {
    fs.appendFile(fd, text, (cause) => resume(cause === null ? Effect.void : failure(file, cause)))
  })

/** Renames; what does not exist needs no other name. */
const moveNow = (from: string, to: string): Either.Either<void, FileFailed> =>
  Either.orElse(
    attemptNow(from, () => fs.renameSync(from, to)),
    (failed) => failed.reason === "absent" ? Either.void : Either.left(failed)
  )

/** Nothing is made before the first lines are appended. `append` and `finish` are called one after another. */
export const make = (root: string, writerId: string): Writer => {
  const file = path.join(logsOf(root), logName(writerId))
  let open: { readonly fd: number; bytes: number } | undefined

  const startNow = (): Either.Either<{ readonly fd: number; bytes: number }, FileFailed> =>
    Either.map(openNow(file), (fd) => (open = { fd, bytes: 0 }))

  const rotateNow = (fd: number) => {
    open = undefined
    return closeNow(file, fd).pipe(
      Either.flatMap(() => moveNow(`${file}.1`, `${file}.2`)),
      Either.flatMap(() => moveNow(file, `${file}.1`)),
      Either.flatMap(startNow)
    )
  }

  const drop = (): void => {
    if (open !== undefined) closeNow(file, open.fd)
    open = undefined
  }

  /** The log of a session that was idle for a week is pruned, and nobody would see what is appended to it. */
  const dropPrunedNow = (): Either.Either<void, FileFailed> => {
    if (open === undefined) return Either.void
    const { fd } = open
    return Either.map(attemptNow(file, () => fs.fstatSync(fd).nlink), (names) => {
      if (names === 0) drop()
    })
  }

  const append = (lines: ReadonlyArray<string>): Effect.Effect<void, FileFailed> =>
    Effect.gen(function*() {
      if (lines.length === 0) return
      yield* dropPrunedNow()
      let current = open ?? (yield* Either.flatMap(makeLogsNow(root), startNow))
      let [text, bytes] = ["", 0]
      for (const line of lines) {
        const more = Buffer.byteLength(line)
        if (current.bytes + bytes + more > maxLogBytes) {
          if (bytes > 0) yield* write(file, current.fd, text)
          current = yield* rotateNow(current.fd)
          ;[text, bytes] = ["", 0]
        }
        text += line
        bytes += more
      }
      yield* write(file, current.fd, text)
      current.bytes += bytes
    }).pipe(Effect.tapError(() => Effect.sync(drop)))

  const finish = Effect.suspend(() => {
    if (open === undefined) return Effect.void
    const { fd } = open
    open = undefined
    return Either.flatMap(closeNow(file, fd), () => moveNow(file, `${file}.closed`))
  })

  return { append, finish }
}
