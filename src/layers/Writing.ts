import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { parseStat } from "../domain/IdentifiedProcess.ts"
import { attempt, close, codeOf, failure, FileFailed } from "./Files.ts"

/** Writing so that nobody ever sees half a file: a temporary beside the target, then one link or rename. */

const readStartTicks: Effect.Effect<string> = process.platform === "linux"
  ? attempt("/proc/self/stat", () => parseStat(fs.readFileSync("/proc/self/stat", "utf8"))).pipe(
    Effect.map((seen) => seen._tag === "Found" ? seen.startTicks : "0"),
    Effect.orElseSucceed(() => "0")
  )
  : Effect.succeed("0")
// Remembered: it never changes, and procfs is slow beside everything else that an update does.
let knownStartTicks: string | undefined
const ownStartTicks: Effect.Effect<string> = Effect.suspend(() =>
  knownStartTicks === undefined
    ? Effect.tap(readStartTicks, (ticks) =>
      Effect.sync(() => {
        knownStartTicks = ticks
      }))
    : Effect.succeed(knownStartTicks)
)

// Of the process, not of a layer: the name says pid and start, so the number must be unique for both.
let temporaries = 0

/** A new name beside `target`: `<target>.<pid>-<start ticks>-<n>.tmp` (spec 1.4). */
export const temporaryName = (target: string): Effect.Effect<string> =>
  Effect.map(ownStartTicks, (ticks) => {
    temporaries += 1
    return `${target}.${process.pid}-${ticks}-${temporaries}.tmp`
  })

const remove = (file: string): Effect.Effect<void> =>
  attempt(file, () => fs.rmSync(file, { force: true })).pipe(
    Effect.catchAll((failed) => Effect.logWarning(failed.message))
  )

/** Brings what was written to the disk. */
export const sync = (file: string, fd: number): Effect.Effect<void, FileFailed> =>
  Effect.async((resume) => fs.fsync(fd, (cause) => resume(cause === null ? Effect.void : failure(file, cause))))

/** Without procfs a name can be left over from an earlier process of the same pid: then the next number is free. */
export const tries = 64

const openNew = (target: string, mode: number, left = tries): Effect.Effect<readonly [string, number], FileFailed> =>
  Effect.flatMap(temporaryName(target), (file) =>
    Effect.catchIf(
      attempt(file, () => [file, fs.openSync(file, "wx", mode)] as const),
      (failed) => failed.reason === "exists" && left > 1,
      () => openNew(target, mode, left - 1)
    ))

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
  Effect.acquireUseRelease(
    openNew(target, mode),
    ([file, fd]) =>
      attempt(file, () => fs.writeFileSync(fd, bytes)).pipe(
        Effect.zipRight(sync(file, fd)),
        Effect.uninterruptible,
        Effect.ensuring(close(file, fd)),
        Effect.zipRight(Effect.suspend(() => use(file)))
      ),
    ([file]) => remove(file)
  )

/**
 * Makes names in `directory` survive a crash. A failure is only a warning: what was published has happened (spec 1.4).
 * Windows cannot sync a folder.
 */
export const settle = (directory: string): Effect.Effect<void> =>
  process.platform === "win32" ? Effect.void : Effect.acquireUseRelease(
    attempt(directory, () => fs.openSync(directory, "r")),
    (fd) => sync(directory, fd),
    (fd) => close(directory, fd)
  ).pipe(
    Effect.uninterruptible,
    Effect.catchAll((failed) =>
      Effect.logWarning(`Written, but not yet certain to survive a crash of the machine: ${failed.message}`)
    )
  )

/** Gives a file another name; false when that name is in use. Nothing is ever replaced. */
export const link = (file: string, target: string): Effect.Effect<boolean, FileFailed> =>
  Effect.try({
    try: () => fs.linkSync(file, target),
    catch: (cause) => {
      const unable = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK", "EINVAL"]
      return unable.includes(codeOf(cause))
        ? new FileFailed({
          reason: "no_hard_links",
          path: target,
          detail: "its file system has no hard links, and without them two sessions could overwrite each other"
        })
        : failure(target, cause)
    }
  }).pipe(
    Effect.as(true),
    Effect.catchIf((failed) => failed.reason === "exists", () => Effect.succeed(false))
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
    (file) => Effect.uninterruptibleMask((restore) => Effect.zipRight(restore(first), link(file, target)))
  ).pipe(
    Effect.tap((published) => published ? settle(path.dirname(target)) : Effect.void)
  )

/** Renames a temporary over its target: one synchronous step, so it cannot be interrupted. */
export const rename = (file: string, target: string): Effect.Effect<void, FileFailed> =>
  attempt(target, () => fs.renameSync(file, target))
