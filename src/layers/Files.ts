import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as fs from "node:fs"

/**
 * The one way to look at and read files that others could have planted: no link is followed, nothing blocks, every
 * read is bounded. Single system calls are synchronous: they are shorter than a turn of the event loop, and what must
 * not be torn apart (compare, fence, rename) then cannot be. What is named `…Now` is done when it is called: a config
 * update makes some twenty such calls, and as effects of their own they would take longer than the disk.
 */

export type FileReason =
  | "absent"
  | "exists"
  | "link"
  | "kind"
  | "foreign"
  | "open_to_all"
  | "not_private"
  | "too_large"
  | "no_hard_links"
  | "failed"

/** What the system, or a check of ours, said of `path`. `detail` ends a sentence and holds no content. */
export class FileFailed extends Data.TaggedError("FileFailed")<{
  readonly reason: FileReason
  readonly path: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.path}: ${this.detail}`
  }
}

const known: Readonly<Record<string, readonly [FileReason, string]>> = {
  ENOENT: ["absent", "it does not exist"],
  EEXIST: ["exists", "it exists already"],
  ELOOP: ["link", "it is a symbolic link, and links are not followed"],
  ENXIO: ["kind", "it is not a regular file"],
  ENOTDIR: ["kind", "something on the way to it is not a folder"],
  EISDIR: ["kind", "it is a folder"],
  EACCES: ["failed", "this user is not allowed to access it"],
  EPERM: ["failed", "this user is not allowed to access it"],
  ENOSPC: ["failed", "the disk is full"],
  EDQUOT: ["failed", "the disk quota is used up"],
  EROFS: ["failed", "the file system is read-only"]
}

/** The code of what a file operation threw. */
export const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "no code"

/** What the system's code says of `path`. */
export const failureOf = (path: string, code: string): FileFailed => {
  const [reason, detail] = known[code] ?? ["failed", `the system answered ${code}`]
  return new FileFailed({ reason, path, detail })
}

/** Translates what a file operation threw, by its code. */
export const failure = (path: string, cause: unknown): FileFailed => failureOf(path, codeOf(cause))

type Now<A> = Either.Either<A, FileFailed>

/** Runs one synchronous file operation on `path`, at once. */
export const attemptNow = <A>(path: string, operation: () => A): Now<A> =>
  Either.try({ try: operation, catch: (cause) => failure(path, cause) })

/** Runs one synchronous file operation on `path`. */
export const attempt = <A>(path: string, operation: () => A): Effect.Effect<A, FileFailed> =>
  Effect.suspend(() => attemptNow(path, operation))

const refuse = (reason: FileReason, path: string, detail: string): Now<never> =>
  Either.left(new FileFailed({ reason, path, detail }))

/** None for what does not exist, and only for that (spec 1.1: only ENOENT means absent). */
export const orAbsent = <A>(effect: Effect.Effect<A, FileFailed>): Effect.Effect<Option.Option<A>, FileFailed> =>
  effect.pipe(
    Effect.map(Option.some),
    Effect.catchIf((failed) => failed.reason === "absent", () => Effect.succeed(Option.none<A>()))
  )

/** {@link orAbsent} of what is known already. */
export const orAbsentNow = <A>(found: Now<A>): Now<Option.Option<A>> =>
  Either.isRight(found)
    ? Either.right(Option.some(found.right))
    : found.left.reason === "absent"
    ? Either.right(Option.none())
    : Either.left(found.left)

/** The entry itself, a link included. */
export const lookNow = (path: string): Now<fs.BigIntStats> =>
  attemptNow(path, () => fs.lstatSync(path, { bigint: true }))
/** {@link lookNow}, when it is run. */
export const look = (path: string): Effect.Effect<fs.BigIntStats, FileFailed> => Effect.suspend(() => lookNow(path))

/** The absolute path with every link resolved. */
export const realPath = (path: string): Effect.Effect<string, FileFailed> =>
  attempt(path, () => fs.realpathSync.native(path))

/** Makes one folder; one that exists already is left as it is. */
export const makeDirectory = (path: string, mode: number): Effect.Effect<void, FileFailed> =>
  attempt(path, () => fs.mkdirSync(path, { mode })).pipe(
    Effect.catchIf((failed) => failed.reason === "exists", () => Effect.void)
  )

/** Whether an entry is still what it was: nothing has written to it, and no other one has taken its place. */
export const sameFile = (a: fs.BigIntStats, b: fs.BigIntStats): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs

/** Inodes are reused at once and older kernels stamp coarsely: a younger stat proves nothing (spec 1.4). */
const provenAgeMs = 50

/** Whether what was read at `nowMs` or later can be told from any later content by this stat (spec 1.4). */
export const provesContent = (stat: fs.BigIntStats, nowMs: number): boolean =>
  nowMs - Number(stat.mtimeNs / 1_000_000n) >= provenAgeMs

/** This user (no uids on Windows); asked once, since every file of a folder is compared with it. */
const uid = process.geteuid === undefined ? undefined : BigInt(process.geteuid())

/** Refuses anything but a real folder or a real regular file of this user. */
export const checkOwn = (
  path: string,
  stat: fs.BigIntStats,
  kind: "folder" | "file"
): Now<void> => {
  if (stat.isSymbolicLink()) return refuse("link", path, "it is a symbolic link, and links are not followed")
  if (kind === "folder" && !stat.isDirectory()) return refuse("kind", path, "it is not a folder")
  if (kind === "file" && !stat.isFile()) return refuse("kind", path, "it is not a regular file")
  if (uid !== undefined && stat.uid !== uid) {
    return refuse("foreign", path, "it belongs to another user of this machine")
  }
  return Either.void
}

/** {@link checkOwn}, and not writable by everyone: what may choose this session's team (spec 1.2). */
export const checkTrusted = (
  path: string,
  stat: fs.BigIntStats,
  kind: "folder" | "file"
): Now<void> =>
  process.platform !== "win32" && !stat.isSymbolicLink() && (stat.mode & 0o002n) !== 0n
    ? Either.andThen(checkOwn(path, stat, kind), () =>
      refuse("open_to_all", path, "every user of this machine may write to it"))
    : checkOwn(path, stat, kind)

/** {@link checkOwn}, and closed to everybody else: 0700 for a folder, 0600 for a file (spec 1.3). */
export const checkPrivate = (
  path: string,
  stat: fs.BigIntStats,
  kind: "folder" | "file"
): Now<void> => {
  const wanted = kind === "folder" ? 0o700n : 0o600n
  return process.platform !== "win32" && !stat.isSymbolicLink() && (stat.mode & 0o777n) !== wanted
    ? Either.andThen(
      checkOwn(path, stat, kind),
      () => refuse("not_private", path, `its permissions are not ${wanted.toString(8)}`)
    )
    : checkOwn(path, stat, kind)
}

/** Bytes, and the stat that was true when reading them began. */
export interface Content {
  readonly bytes: Uint8Array
  readonly stat: fs.BigIntStats
}

const megabyte = 1024 * 1024
const sizeOf = (bytes: number): string =>
  bytes >= megabyte ? `${bytes / megabyte} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} bytes`

// Windows has neither flag: there only the look before the open refuses a link.
const readFlags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0)

/**
 * Fills `bytes` with those of an open file from a place in it, and answers what was filled: less when the file ends before
 * that. Throws what the system says.
 */
export const readInto = (bytes: Buffer, fd: number, from = 0): Buffer => {
  let filled = 0
  while (filled < bytes.length) {
    const count = fs.readSync(fd, bytes, filled, bytes.length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** The first `size` bytes of an open file; fewer when it is shorter. Throws what the system says. */
const readBytes = (fd: number, size: number): Buffer => readInto(Buffer.allocUnsafe(size), fd)

/** Closes a descriptor. */
export const closeNow = (path: string, fd: number): Now<void> => attemptNow(path, () => fs.closeSync(fd))

const readWhole = (maxBytes: number) => (path: string, fd: number, stat: fs.BigIntStats): Now<Content> =>
  stat.size > BigInt(maxBytes)
    ? refuse("too_large", path, `it is larger than ${sizeOf(maxBytes)}`)
    : Either.map(attemptNow(path, () => readBytes(fd, Number(stat.size))), (bytes) => ({ bytes, stat }))

/**
 * Reads of a regular file what `read` takes of it, as it was when it was opened; refused as in {@link readRegularNow}. A
 * caller who has just looked at the file gives what it saw.
 */
export const withRegularNow = <A>(
  path: string,
  read: (path: string, fd: number, stat: fs.BigIntStats) => Now<A>,
  seen: Now<fs.BigIntStats> = lookNow(path)
): Now<A> =>
  Either.flatMap(seen, (before) => {
    if (before.isSymbolicLink()) return refuse("link", path, "it is a symbolic link, and links are not followed")
    if (!before.isFile()) return refuse("kind", path, "it is not a regular file")
    return Either.flatMap(attemptNow(path, () => fs.openSync(path, readFlags)), (fd) => {
      const content = Either.flatMap(
        attemptNow(path, () => fs.fstatSync(fd, { bigint: true })),
        (stat) => stat.isFile() ? read(path, fd, stat) : refuse("kind", path, "it is not a regular file")
      )
      // Whatever closing says: what was read is known.
      closeNow(path, fd)
      return content
    })
  })

/**
 * Reads a regular file of at most `maxBytes`. A link, pipe, device, socket or folder is refused: looked at before
 * opening, since opening a device can have effects, and again on what was opened.
 */
export const readRegularNow = (path: string, maxBytes: number, seen?: Now<fs.BigIntStats>): Now<Content> =>
  withRegularNow(path, readWhole(maxBytes), seen)

/** The first `bytes` of a regular file of any size, refused as in {@link readRegularNow}; the rest is not read. */
export const readHead = (path: string, bytes: number): Effect.Effect<Uint8Array, FileFailed> =>
  Effect.suspend(() => withRegularNow(path, (_, fd) => attemptNow(path, () => readBytes(fd, bytes))))

/** {@link readRegularNow}, when it is run. */
export const readRegular = (path: string, maxBytes: number): Effect.Effect<Content, FileFailed> =>
  Effect.suspend(() => readRegularNow(path, maxBytes))

/** Closes a descriptor; by then everything that matters has been checked, so a problem is only logged. */
export const close = (path: string, fd: number): Effect.Effect<void> =>
  Effect.catchAll(Effect.suspend(() => closeNow(path, fd)), (failed) => Effect.logWarning(failed.message))
