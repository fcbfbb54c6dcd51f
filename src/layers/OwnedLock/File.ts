import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { IdentifiedProcess } from "../../domain/IdentifiedProcess.ts"
import { OwnedLock } from "../../services/OwnedLock.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { StateDir } from "../../services/StateDir.ts"
import { attempt, attemptNow, type FileFailed, lookNow, orAbsent, orAbsentNow } from "../Files.ts"
import { nameHash } from "../Hash.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { atNewNameNow, flush, linkNow, remove, removingNow, unlinkNow } from "../Writing.ts"
import { type Found, holding, lookFree, type Steps, take } from "./Routine.ts"

/** An identity is a few hundred bytes. */
const maxBytes = 4096

const Content = Schema.parseJson(IdentifiedProcess)
const decode = Schema.decodeUnknownOption(Content)

// The time of writing too: an inode is given out again at once. A link or its removal does not change it.
const markOf = (stat: fs.BigIntStats): string => `${stat.dev}-${stat.ino}-${stat.mtimeNs}`

/** What is under a lock's name. */
export const readLock = (name: string): Effect.Effect<Found, FileFailed> =>
  orAbsent(readPrivate(name, maxBytes)).pipe(
    Effect.map(Option.match({
      onNone: (): Found => ({ _tag: "Absent" }),
      onSome: ({ bytes }) =>
        Option.match(decode(Buffer.from(bytes).toString("utf8")), {
          onNone: (): Found => ({ _tag: "Foreign" }),
          onSome: (owner): Found => ({ _tag: "Owned", owner })
        })
    })),
    Effect.catchIf((failed) => failed.reason === "too_large", () => Effect.succeed<Found>({ _tag: "Foreign" }))
  )

const isOursNow = (name: string, mark: string): Either.Either<boolean, FileFailed> =>
  Either.map(orAbsentNow(lookNow(name)), (found) => Option.isSome(found) && markOf(found.value) === mark)

const toDisk = (file: string): Effect.Effect<void, FileFailed> =>
  Effect.flatMap(attempt(file, () => fs.openSync(file, "r+")), (fd) => Effect.uninterruptible(flush(file, fd)))

interface Written {
  readonly file: string
  readonly mark: string
}

const writeNow = (file: string, content: string): Either.Either<Written, FileFailed> => {
  const written = attemptNow(file, () => {
    fs.writeFileSync(file, content, { flag: "wx", mode: 0o600 })
    return { file, mark: markOf(fs.lstatSync(file, { bigint: true })) }
  })
  if (Either.isLeft(written) && written.left.reason !== "exists") unlinkNow(file)
  return written
}

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const { look: liveness, own } = yield* ProcessIdentity
  const content = yield* Effect.orDie(Schema.encode(Content)(own))

  const writeNew = (name: string) => atNewNameNow(name, (file) => writeNow(file, content))
  const publishNow = (name: string, { file, mark }: Written) =>
    Either.map(linkNow(file, name), (linked) => linked ? mark : undefined)

  /** Of a lock that is held for milliseconds: one step. */
  const brief = (name: string): Effect.Effect<string | undefined, FileFailed> =>
    Effect.suspend(() => {
      const written = writeNew(name)
      if (Either.isLeft(written)) return Either.left(written.left)
      const gained = publishNow(name, written.right)
      return Effect.zipRight(removingNow(written.right.file), gained)
    })

  /** Of a lock that is held for hours: it must not be an empty file after a power cut. */
  const lasting = (name: string): Effect.Effect<string | undefined, FileFailed> =>
    Effect.acquireUseRelease(
      Effect.suspend(() => writeNew(name)),
      (written) => Effect.flatMap(toDisk(written.file), () => publishNow(name, written)),
      ({ file }) => remove(file)
    )

  const stepsOf = (create: (name: string) => Effect.Effect<string | undefined, FileFailed>): Steps => ({
    create: (name) => Effect.mapError(create(name), unusable),
    read: (name) => Effect.mapError(readLock(name), unusable),
    isOurs: (name, mark) => Effect.suspend(() => Either.mapLeft(isOursNow(name, mark), unusable)),
    remove: (name) => Effect.suspend(() => Either.mapLeft(unlinkNow(name), unusable)),
    look: liveness
  })
  const [briefly, lastingly] = [stepsOf(brief), stepsOf(lasting)]

  const sessionLock = (root: string, sessionId: string) =>
    Effect.map(state.of(root), (folder) => path.join(folder, `session-${nameHash(sessionId)}.lock`))
  const session = "This saved session"

  const during = (file: string, what: string): OwnedLock["Type"]["config"] => (root, use) =>
    Effect.flatMap(state.of(root), (folder) => holding(briefly, path.join(folder, file), what, use))

  return OwnedLock.of({
    config: during("config.lock", "The team file"),
    monitor: during("monitor.lock", "The monitor pane"),
    session: (root, sessionId) =>
      Effect.flatMap(sessionLock(root, sessionId), (name) => take(lastingly, name, session)),
    sessionFree: (root, sessionId) =>
      Effect.flatMap(sessionLock(root, sessionId), (name) => lookFree(lastingly, name, session))
  })
})

/** Locks in the state folder, owned by this process. */
export const layer: Layer.Layer<OwnedLock, never, StateDir | ProcessIdentity> = Layer.effect(OwnedLock, make)
