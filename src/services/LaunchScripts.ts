import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"

/** Programs for panes that only a short line can be typed into (spec 5.1). */
export class LaunchScripts extends Context.Tag("pi-intercom/LaunchScripts")<LaunchScripts, {
  /**
   * Writes `launch/<uuid>.sh` (0700) in the root's state folder; complete when this returns. `make` is given its path,
   * so that the script can remove itself when it starts. Answers the path.
   */
  readonly write: (root: string, make: (path: string) => string) => Effect.Effect<string, StateUnusable>
  /** Removes a script that will surely never be started; a failure is logged. */
  readonly discard: (path: string) => Effect.Effect<void>
}>() {}
