import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as path from "node:path"
import { Ids } from "../../services/Ids.ts"
import { LaunchScripts } from "../../services/LaunchScripts.ts"
import { StateDir } from "../../services/StateDir.ts"
import { FileFailed } from "../Files.ts"
import { privateFolder, unusable } from "../PrivateFiles.ts"
import { publishNew, remove } from "../Writing.ts"

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const ids = yield* Ids

  const write = Effect.fn("LaunchScripts.write")(function*(root: string, script: (path: string) => string) {
    const folder = path.join(yield* state.of(root), "launch")
    yield* privateFolder(folder)
    const file = path.join(folder, `${yield* ids.uuid}.sh`)
    const published = yield* Effect.mapError(
      publishNew(file, new TextEncoder().encode(script(file)), 0o700),
      unusable
    )
    // Whatever lies there is not what was asked for: it must not be run.
    if (!published) {
      return yield* unusable(new FileFailed({ reason: "exists", path: file, detail: "it exists already" }))
    }
    return file
  })

  return LaunchScripts.of({ write, discard: remove })
})

/** Launch scripts in the state directory. */
export const layer: Layer.Layer<LaunchScripts, never, StateDir | Ids> = Layer.effect(LaunchScripts, make)
