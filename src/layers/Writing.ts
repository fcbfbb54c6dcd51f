import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fs from "node:fs"
import * as path from "node:path"
import { parseStat } from "../domain/IdentifiedProcess.ts"
import { bracket } from "./Bracket.ts"
import { attempt, attemptNow, closeNow, codeOf, failure, failureOf, FileFailed } from "./Files.ts"

/** Writing so that nobody ever sees half a file: a temporary beside the target, then one link or rename. */

const startTicksNow = (): string => {
  if (process.platform !== "linux") return "0"
  const seen = Either.map(attemptNow("/proc/self/stat", () => fs.readFileSync("/proc/self/stat", "utf8")), parseStat)
  return Either.isRight(seen) && seen.right._tag === "Found" ? seen.right.startTicks : "0"
}
// Remembered: it never changes, and procfs is slow beside everything else that an update does.
let knownStartTicks: string | undefined
// Of the process, not of a layer: the name says pid and start, so the number must be unique for both.
let temporaries = 0

const temporaryName = (target: string): string => {
  knownStartTicks ??= startTicksNow()
  temporaries += 1
  return `${target}.${process.pid}-${knownStartTicks}-${temporaries}.tmp`
}

/** Without procfs a name can be left over from an earlier process of the same pid: then the next number is free. */
const tries = 64

/** What `write` makes of a new name beside `target`: `<target>.<pid>-<start ticks>-<n>.tmp` (spec 1.4). */
export const atNewNameNow = <A>(
  target: string,
  write: (file: string) => Either.Either<A, FileFailed>
): Either.Either<A, FileFailed> => {
  for (let left = tries;; left -= 1) {
    const written = write(temporaryName(target))
    if (Either.isRight(written) || written.left.reason !== "exists" || left === 1) return written
  }
}

/** Removes a file; one that is gone already is no failure. */
export const unlinkNow = (file: string): Either.Either<void, FileFailed> =>
  Either.orElse(
    attemptNow(file, () => fs.unlinkSync(file)),
    (failed) => failed.reason === "absent" ? Either.void : Either.left(failed)
  )

/** {@link unlinkNow} for what is usually gone: it was renamed, and an error would cost more than the look. */
export const removeNow = (file: string): Either.Either<void, FileFailed> =>
  Either.flatMap(
    attemptNow(file, () => fs.lstatSync(file, { throwIfNoEntry: false })),
    (found) => found === undefined ? Either.void : unlinkNow(file)
  )

const logged = (removed: Either.Either<void, FileFailed>): Effect.Effect<void> =>
  Either.isRight(removed) ? Effect.void : Effect.logWarning(removed.left.message)

/** {@link unlinkNow} for what must not hide an earlier result: what it answers logs a failure. */
export const removingNow = (file: string): Effect.Effect<void> => logged(unlinkNow(file))

/** {@link removeNow}, when it is run, for what must not hide an earlier result: a failure is only logged. */
export const remove = (file: string): Effect.Effect<void> => Effect.suspend(() => logged(removeNow(file)))

/** Begins to bring to the disk what was written, and to close; what it answers waits, once, for the end of both. */
const flushNow = (file: string, fd: number): Effect.Effect<void, FileFailed> => {
  let ended: Effect.Effect<void, FileFailed> | undefined
  let end = (result: Effect.Effect<void, FileFailed>): void => {
    ended = result
  }
  fs.fsync(fd, (cause) => {
    const closed = closeNow(file, fd)
    end(cause === null ? closed : failure(file, cause))
  })
  return Effect.async((resume) => {
    if (ended !== undefined) resume(ended)
    else end = resume
  })
}

/** Brings to the disk what was written, and closes. Waiting for it can be given up, not the closing. */
export const flush = (file: string, fd: number): Effect.Effect<void, FileFailed> =>
  Effect.suspend(() => flushNow(file, fd))

interface Written {
  readonly file: string
  readonly fd: number
}

const writeNow = (file: string, bytes: Uint8Array, mode: number): Either.Either<Written, FileFailed> =>
  Either.flatMap(attemptNow(file, () => fs.openSync(file, "wx", mode)), (fd) => {
    const written = attemptNow(file, () => fs.writeFileSync(fd, bytes))
    if (Either.isRight(written)) return Either.right({ file, fd })
    // The first error is the one that counts.
    closeNow(file, fd)
    removeNow(file)
    return Either.left(written.left)
  })

/**
 * Uses a new file `<target>.<pid>-<start ticks>-<n>.tmp` beside `target` with these bytes, on disk when `use` begins. It
 * is gone afterwards, unless it was renamed; a failure or interruption leaves none. `mode` is masked by the umask.
 */
export const withTemporary = <A, E, R>(
  target: string,
  bytes: Uint8Array,
  mode: number,
  use: (file: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | FileFailed, R> =>
  bracket(
    () =>
      Effect.flatMap(
        Effect.suspend(() => atNewNameNow(target, (file) => writeNow(file, bytes, mode))),
        ({ fd, file }) => Effect.as(Effect.tapError(flushNow(file, fd), () => remove(file)), file)
      ),
    use,
    remove
  )

const uncertain = (failed: FileFailed): Effect.Effect<void> =>
  Effect.logWarning(`Written, but not yet certain to survive a crash of the machine: ${failed.message}`)

/**
 * Begins to make names in `directory` survive a crash; what it answers waits, once, until they do. A failure is only a
 * warning: what was published has happened (spec 1.4). Windows cannot sync a folder.
 */
export const settleNow = (directory: string): Effect.Effect<void> => {
  if (process.platform === "win32") return Effect.void
  const opened = attemptNow(directory, () => fs.openSync(directory, "r"))
  return Either.isLeft(opened)
    ? uncertain(opened.left)
    : Effect.catchAll(flushNow(directory, opened.right), uncertain)
}

/** {@link settleNow}, waited for. */
export const settle = (directory: string): Effect.Effect<void> =>
  Effect.uninterruptible(Effect.suspend(() => settleNow(directory)))

const withoutLinks = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK", "EINVAL"]

/** Gives a file another name; false when that name is in use. Nothing is ever replaced. */
export const linkNow = (file: string, target: string): Either.Either<boolean, FileFailed> =>
  Either.try({ try: () => fs.linkSync(file, target), catch: codeOf }).pipe(
    Either.match({
      onRight: () => Either.right(true),
      onLeft: (code) =>
        code === "EEXIST" ? Either.right(false) : Either.left(
          withoutLinks.includes(code)
            ? new FileFailed({
              reason: "no_hard_links",
              path: target,
              detail: "its file system has no hard links, and without them two sessions could overwrite each other"
            })
            : failureOf(target, code)
        )
    })
  )

/**
 * Publishes a new file that replaces nothing, by a hard link; false when `target` exists already (spec 1.3). What
 * `first` does right before the link is one step with it: no interruption comes between, and its failure publishes
 * nothing.
 */
export const publishNew = <E = never>(
  target: string,
  bytes: Uint8Array,
  mode: number,
  first: Effect.Effect<void, E> = Effect.void
): Effect.Effect<boolean, FileFailed | E> =>
  withTemporary(
    target,
    bytes,
    mode,
    (file) => Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(first), () => linkNow(file, target)))
  ).pipe(
    Effect.tap((published) => published ? settle(path.dirname(target)) : Effect.void)
  )

/** Renames a temporary over its target: one synchronous step, so it cannot be interrupted. */
export const rename = (file: string, target: string): Effect.Effect<void, FileFailed> =>
  attempt(target, () => fs.renameSync(file, target))
