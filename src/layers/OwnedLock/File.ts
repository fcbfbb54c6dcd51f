import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { IdentifiedProcess } from "../../domain/IdentifiedProcess.ts"
import { OwnedLock } from "../../services/OwnedLock.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { StateDir } from "../../services/StateDir.ts"
import { attempt, close, type FileFailed, look, orAbsent } from "../Files.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { link, sync, temporaryName, tries } from "../Writing.ts"
import { type Found, lookFree, type Steps, take } from "./Routine.ts"

/** An identity is a few hundred bytes. */
const maxBytes = 4096

const Content = Schema.parseJson(IdentifiedProcess)
const decode = Schema.decodeUnknownOption(Content)

// The time of writing too: an inode is given out again at once. A link or its removal does not change it.
const markOf = (stat: fs.BigIntStats): string => `${stat.dev}-${stat.ino}-${stat.mtimeNs}`

const unlink = (file: string): Effect.Effect<void, FileFailed> =>
  attempt(file, () => fs.unlinkSync(file)).pipe(
    Effect.catchIf((failed) => failed.reason === "absent", () => Effect.void)
  )

const discard = (file: string): Effect.Effect<void> =>
  Effect.catchAll(unlink(file), (failed) => Effect.logWarning(failed.message))

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
  Effect.map(orAbsent(look(name)), (found) => Option.isSome(found) && markOf(found.value) === mark)

const toDisk = (file: string): Effect.Effect<void, FileFailed> =>
  Effect.acquireUseRelease(
    attempt(file, () => fs.openSync(file, "r+")),
    (fd) => sync(file, fd),
    (fd) => close(file, fd)
  )

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const { look: liveness, own } = yield* ProcessIdentity
  const content = yield* Effect.orDie(Schema.encode(Content)(own))

  const stepsOf = (finish: (file: string) => Effect.Effect<void, FileFailed>): Steps => {
    const create = (name: string, left = tries): Effect.Effect<string | undefined, FileFailed> =>
      Effect.flatMap(temporaryName(name), (file) =>
        attempt(file, () => {
          fs.writeFileSync(file, content, { flag: "wx", mode: 0o600 })
          return markOf(fs.lstatSync(file, { bigint: true }))
        }).pipe(Effect.matchEffect({
          onSuccess: (mark) =>
            finish(file).pipe(
              Effect.zipRight(link(file, name)),
              Effect.map((linked) => linked ? mark : undefined),
              Effect.ensuring(discard(file))
            ),
          onFailure: (failed) =>
            failed.reason !== "exists" ?
              Effect.zipRight(discard(file), failed) :
              left > 1 ?
              create(name, left - 1) :
              failed
        })))
    return {
      create: (name) => Effect.mapError(create(name), unusable),
      read: (name) => Effect.mapError(read(name), unusable),
      isOurs: (name, mark) => Effect.mapError(isOurs(name, mark), unusable),
      remove: (name) => Effect.mapError(unlink(name), unusable),
      look: liveness
    }
  }
  // A lock held for hours must not be an empty file after a power cut; one held for milliseconds must not cost a sync.
  const [lasting, brief] = [stepsOf(toDisk), stepsOf(() => Effect.void)]

  const sessionLock = (root: string, sessionId: string) =>
    Effect.map(state.of(root), (folder) => {
      const key = createHash("sha256").update(sessionId).digest("hex").slice(0, 24)
      return path.join(folder, `session-${key}.lock`)
    })
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
