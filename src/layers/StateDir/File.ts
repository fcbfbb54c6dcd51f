import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import { StateUnusable } from "../../domain/ConfigErrors.ts"
import { Platform } from "../../services/Platform.ts"
import { StateDir } from "../../services/StateDir.ts"
import { attempt, checkTrusted, type FileFailed, look, lookNow, orAbsent, realPath } from "../Files.ts"
import { nameHash } from "../Hash.ts"
import { privateFolder, unusable } from "../PrivateFiles.ts"

/** Resolves the links of a path that may not exist yet: of the part that does. */
const resolve = (wanted: string): Effect.Effect<string, StateUnusable> =>
  Effect.flatMap(
    Effect.mapError(orAbsent(realPath(wanted)), unusable),
    Option.match({
      onSome: Effect.succeed,
      onNone: () => Effect.map(resolve(path.dirname(wanted)), (parent) => path.join(parent, path.basename(wanted)))
    })
  )

/** The state directory itself may be somebody's own file or folder, named by mistake: nobody is told to remove it. */
const unusableBase = (failed: FileFailed): StateUnusable =>
  ["link", "kind", "foreign"].includes(failed.reason)
    ? new StateUnusable({
      path: failed.path,
      detail: failed.detail,
      mend: "Set PI_INTERCOM_STATE_DIR to a private folder of yours, or unset it, and start Pi again."
    })
    : unusable(failed)

const make = Effect.gen(function*() {
  const variable = (name: string) => Config.option(Config.nonEmptyString(name)).pipe(Effect.orDie)
  const chosen = yield* variable("PI_INTERCOM_STATE_DIR")
  const xdg = yield* variable("XDG_STATE_HOME")
  const localAppData = yield* variable("LOCALAPPDATA")
  const { home, os } = yield* Platform

  // A relative XDG_STATE_HOME is to be ignored, says the XDG specification.
  const parent = os === "win32"
    ? Option.getOrElse(localAppData, () => path.join(home, "AppData", "Local"))
    : xdg.pipe(Option.filter(path.isAbsolute), Option.getOrElse(() => path.join(home, ".local", "state")))
  const wanted = Option.getOrElse(chosen, () => path.join(parent, "pi-intercom"))

  const base = yield* Effect.cached(
    path.isAbsolute(wanted) ? resolve(wanted) : new StateUnusable({
      path: JSON.stringify(wanted),
      detail: "it stands in PI_INTERCOM_STATE_DIR, which must hold an absolute path",
      mend: "Set that variable to a private folder of yours, or unset it, and start Pi again."
    })
  )

  /** By root: the folder, and what it was when it was verified. */
  const verified = new Map<string, { readonly folder: string; readonly stat: fs.BigIntStats }>()

  const verify = Effect.fn("StateDir.verify")(function*(root: string) {
    const state = yield* base
    const key = nameHash(yield* Effect.mapError(realPath(root), unusable))
    // What is there already and is not a folder is named as that by the look below.
    yield* attempt(state, () => fs.mkdirSync(state, { recursive: true, mode: 0o700 })).pipe(
      Effect.catchIf((failed) => failed.reason === "exists", () => Effect.void),
      Effect.mapError(unusableBase)
    )
    yield* look(state).pipe(
      Effect.flatMap((stat) => checkTrusted(state, stat, "folder")),
      Effect.mapError(unusableBase)
    )
    const folder = path.join(state, key)
    yield* privateFolder(folder)
    yield* attempt(folder, () => fs.accessSync(folder, fs.constants.W_OK)).pipe(Effect.mapError(unusable))
    verified.set(root, { folder, stat: yield* Effect.mapError(look(folder), unusable) })
    return folder
  })

  // Every update asks, for its lock.
  const of = (root: string) =>
    Effect.suspend(() => {
      const known = verified.get(root)
      if (known === undefined) return verify(root)
      const now = lookNow(known.folder)
      const { dev, ino, mode, uid } = known.stat
      const same = Either.isRight(now) && now.right.dev === dev && now.right.ino === ino && now.right.mode === mode &&
        now.right.uid === uid
      return same ? Effect.succeed(known.folder) : verify(root)
    })

  return StateDir.of({ base, of })
})

/** The state directory of this machine; the environment is looked at when the layer is built. */
export const layer: Layer.Layer<StateDir, never, Platform> = Layer.effect(StateDir, make)
