import * as Effect from "effect/Effect"
import { stat } from "node:fs/promises"
import { LaunchFailed } from "../../domain/Launch.ts"

/** Fails unless the directory is there: multiplexers run a program elsewhere rather than nowhere (facts/herdr, facts/tmux). */
export const checkDirectory = (path: string): Effect.Effect<void, LaunchFailed> =>
  Effect.tryPromise(() => stat(path)).pipe(
    Effect.filterOrFail((stats) => stats.isDirectory()),
    Effect.mapError(() =>
      // Unreadable is as good as missing: the script could not enter it either.
      new LaunchFailed({ reason: "directory", detail: "the worker's directory does not exist or cannot be entered" })
    ),
    Effect.asVoid
  )
