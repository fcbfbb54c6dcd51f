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
import { atNewNameNow, flush, linkNow, remove, removeNow } from "../Writing.ts"
import { type Found, lookFree, type Steps, take } from "./Routine.ts"

/** An identity is a few hundred bytes. */
const maxBytes = 4096

const Content = Schema.parseJson(IdentifiedProcess)
const decode = Schema.decodeUnknownOption(Content)

// The time of writing too: an inode is given out again at once. A link or its removal does not change it.
const markOf = (stat: fs.BigIntStats): string => `${stat.dev}-${stat.ino}-${stat.mtimeNs}`

const read = (name: string): Effect.Effect<Found, FileFailed> =>
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

const isOurs = (name: string, mark: string): Effect.Effect<boolean, FileFailed> =>
  Effect.suspend(() =>
    Either.map(orAbsentNow(lookNow(name)), (found) => Option.isSome(found) && markOf(found.value) === mark)
  )

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
  if (Either.isLeft(written) && written.left.reason !== "exists") removeNow(file)
  return written
}

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const { look: liveness, own } = yield* ProcessIdentity
  const content = yield* Effect.orDie(Schema.encode(Content)(own))

  const stepsOf = (settle: (file: string) => Effect.Effect<void, FileFailed>): Steps => ({
    create: (name) =>
      Effect.suspend(() => atNewNameNow(name, (file) => writeNow(file, content))).pipe(
        Effect.flatMap(({ file, mark }) =>
          Effect.ensuring(
            Effect.flatMap(settle(file), () => Either.map(linkNow(file, name), (linked) => linked ? mark : undefined)),
            remove(file)
          )
        ),
        Effect.mapError(unusable)
      ),
    read: (name) => Effect.mapError(read(name), unusable),
    isOurs: (name, mark) => Effect.mapError(isOurs(name, mark), unusable),
    remove: (name) => Effect.mapError(Effect.suspend(() => removeNow(name)), unusable),
    look: liveness
  })
  // A lock held for hours must not be an empty file after a power cut; one held for milliseconds must not cost a sync.
  const [lasting, brief] = [stepsOf(toDisk), stepsOf(() => Effect.void)]

  const sessionLock = (root: string, sessionId: string) =>
    Effect.map(state.of(root), (folder) => path.join(folder, `session-${nameHash(sessionId)}.lock`))
  const session = "This saved session"

  return OwnedLock.of({
    config: (root) =>
      Effect.flatMap(state.of(root), (folder) => take(brief, path.join(folder, "config.lock"), "The team file")),
    session: (root, sessionId) => Effect.flatMap(sessionLock(root, sessionId), (name) => take(lasting, name, session)),
    sessionFree: (root, sessionId) =>
      Effect.flatMap(sessionLock(root, sessionId), (name) => lookFree(lasting, name, session))
  })
})

/** Locks in the state folder, owned by this process. */
export const layer: Layer.Layer<OwnedLock, never, StateDir | ProcessIdentity> = Layer.effect(OwnedLock, make)
