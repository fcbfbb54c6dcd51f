import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import { ConfigRefused } from "../../domain/ConfigErrors.ts"
import { ProjectDirectory } from "../../domain/Primitives.ts"
import { ProjectDirectories, type ProjectLocation } from "../../services/ProjectDirectories.ts"
import { look, realPath } from "../Files.ts"

const isProjectDirectory = Schema.is(ProjectDirectory)

/**
 * Where a real path lies below a real root, with `/` separators and `.` for the root itself; undefined when it is
 * outside, another drive or share of Windows included. `rules` are those of the system.
 */
export const placeBelow = (root: string, real: string, rules: path.PlatformPath = path): string | undefined => {
  const below = rules.relative(root, real)
  if (below === "") return "."
  return below === ".." || below.startsWith(`..${rules.sep}`) || rules.isAbsolute(below)
    ? undefined
    : below.split(rules.sep).join("/")
}

// No span: one costs more than looking at the disk, and every configure resolves.
const resolve = Effect.fnUntraced(function*(root: string, directory: string) {
  const refused = (detail: string) => new ConfigRefused({ detail: `the project directory ${detail}` })
  const realRoot = yield* realPath(root).pipe(Effect.mapError(() => refused("has no root: the team's folder is gone")))
  const real = yield* realPath(path.resolve(realRoot, directory)).pipe(
    Effect.mapError((failed) =>
      refused(failed.reason === "absent" ? "does not exist" : `is unusable: ${failed.detail}`)
    )
  )
  const relative = placeBelow(realRoot, real)
  if (relative === undefined) return yield* refused("is outside the team's root, where links lead to counted")
  const stat = yield* look(real).pipe(Effect.mapError((failed) => refused(`is unusable: ${failed.detail}`)))
  if (!stat.isDirectory()) return yield* refused("is not a folder")
  if (!isProjectDirectory(relative)) return yield* refused("has a name that a team file cannot hold")
  return { real, relative } satisfies ProjectLocation
})

/** Directories of this machine. */
export const layer: Layer.Layer<ProjectDirectories> = Layer.succeed(ProjectDirectories, { resolve })
