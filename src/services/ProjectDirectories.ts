import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ConfigRefused } from "../domain/ConfigErrors.ts"

/** A directory inside a root, with links resolved. */
export interface ProjectLocation {
  /** The real, absolute path. */
  readonly real: string
  /** Root-relative with `/` separators, `.` for the root. */
  readonly relative: string
}

/** Resolves directories for real, links included (spec 1.5, 5). */
export class ProjectDirectories extends Context.Tag("pi-intercom/ProjectDirectories")<ProjectDirectories, {
  /** The real directory of `path` (relative to `root`, or absolute). Refused unless it is a directory, the root or below it. */
  readonly resolve: (root: string, path: string) => Effect.Effect<ProjectLocation, ConfigRefused>
}>() {}
