import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as path from "node:path"
import { Secrets } from "../../services/Secrets.ts"
import { StateDir } from "../../services/StateDir.ts"
import { checkPrivate, checkTrusted, look, realPath } from "../Files.ts"
import { nameHash } from "../Hash.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { keysBy, secretBytes } from "./File.ts"

const make = Effect.map(StateDir, (state) =>
  keysBy((root) =>
    Effect.gen(function*() {
      const base = yield* state.base
      const folder = path.join(base, yield* Effect.mapError(Effect.map(realPath(root), nameHash), unusable))
      const file = path.join(folder, "secret")
      const { bytes } = yield* look(base).pipe(
        Effect.flatMap((stat) => checkTrusted(base, stat, "folder")),
        Effect.zipRight(look(folder)),
        Effect.flatMap((stat) => checkPrivate(folder, stat, "folder")),
        Effect.zipRight(readPrivate(file, secretBytes)),
        Effect.mapError(unusable)
      )
      return { file, bytes }
    })
  ))

/** The secrets that sessions have made: for who writes nothing. A missing one is an error, asked for anew each time. */
export const layer: Layer.Layer<Secrets, never, StateDir> = Layer.effect(Secrets, make)
