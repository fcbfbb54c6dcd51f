import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import { ConfigRefused } from "../../domain/ConfigErrors.ts"
import { ProjectDirectory } from "../../domain/Primitives.ts"
import { ProjectDirectories, type ProjectLocation } from "../../services/ProjectDirectories.ts"
import { look, realPath } from "../Files.ts"

const isProjectDirectory = Schema.is(ProjectDirectory)

const resolve = Effect.fn("ProjectDirectories.resolve")(function*(root: string, directory: string) {
  const refused = (detail: string) => new ConfigRefused({ detail: `the project directory ${detail}` })
  const realRoot = yield* realPath(root).pipe(Effect.mapError(() => refused("has no root: the team's folder is gone")))
  const real = yield* realPath(path.resolve(realRoot, directory)).pipe(
    Effect.mapError((failed) =>
      refused(failed.reason === "absent" ? "does not exist" : `is unusable: ${failed.detail}`)
    )
  )
  const below = path.relative(realRoot, real)
  const relative = below === "" ? "." : below.split(path.sep).join("/")
  if (below === ".." || below.startsWith(`..${path.sep}`) || path.isAbsolute(below)) {
    return yield* refused("is outside the team's root, where links lead to counted")
  }
  const stat = yield* look(real).pipe(Effect.mapError((failed) => refused(`is unusable: ${failed.detail}`)))
  if (!stat.isDirectory()) return yield* refused("is not a folder")
  if (!isProjectDirectory(relative)) return yield* refused("has a name that a team file cannot hold")
  return { real, relative } satisfies ProjectLocation
})

/** Directories of this machine. */
export const layer: Layer.Layer<ProjectDirectories> = Layer.succeed(ProjectDirectories, { resolve })
