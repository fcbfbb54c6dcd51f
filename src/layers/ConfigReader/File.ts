import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as path from "node:path"
import { ConfigUnusable } from "../../domain/ConfigErrors.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import { checkTrusted, look, orAbsent, realPath } from "../Files.ts"
import * as TeamFile from "./TeamFile.ts"

const make = Effect.gen(function*() {
  const pin = yield* Config.option(Config.nonEmptyString("PI_INTERCOM_ROOT")).pipe(Effect.orDie)
  const team = yield* TeamFile.TeamFile

  const pinned = Effect.fn("ConfigReader.pinned")(function*(root: string) {
    if (!path.isAbsolute(root)) {
      return yield* new ConfigUnusable({
        reason: "misnamed",
        file: `The folder in PI_INTERCOM_ROOT, ${JSON.stringify(root)},`,
        detail: "it is not an absolute path"
      })
    }
    const real = yield* realPath(root).pipe(
      Effect.mapError((failed) =>
        new ConfigUnusable({
          reason: "misnamed",
          file: `The folder in PI_INTERCOM_ROOT, ${root},`,
          detail: failed.detail
        })
      )
    )
    const stat = yield* look(real).pipe(Effect.mapError(TeamFile.unusable))
    yield* checkTrusted(real, stat, "folder").pipe(Effect.mapError(TeamFile.unusable))
    yield* team.locate(real)
    return Option.some(real)
  })

  const upward = Effect.fn("ConfigReader.upward")(function*(directory: string) {
    let candidate = yield* realPath(directory)
    for (;;) {
      const folder = TeamFile.folderOf(candidate)
      const found = yield* orAbsent(look(folder))
      if (Option.isSome(found)) {
        // A link or a plain file here is refused, not passed by: it stands where a team would be.
        if (!found.value.isDirectory()) yield* checkTrusted(folder, found.value, "folder")
        if (Option.isSome(yield* orAbsent(look(TeamFile.fileOf(candidate))))) return Option.some(candidate)
      }
      const parent = path.dirname(candidate)
      if (parent === candidate) return Option.none<string>()
      candidate = parent
    }
  }, Effect.mapError(TeamFile.unusable))

  const discover = Effect.fn("ConfigReader.discover")(function*(directory: string) {
    if (Option.isSome(pin)) return yield* pinned(pin.value)
    const root = yield* upward(directory)
    if (Option.isSome(root)) yield* team.locate(root.value)
    return root
  })

  return ConfigReader.of({
    discover,
    read: (root) => Effect.map(team.read(root), Option.map((snapshot) => snapshot.config))
  })
})

/** Team files on disk. `PI_INTERCOM_ROOT` is looked at when the layer is built. */
export const layer: Layer.Layer<ConfigReader> = Layer.effect(ConfigReader, make).pipe(Layer.provide(TeamFile.layer))
