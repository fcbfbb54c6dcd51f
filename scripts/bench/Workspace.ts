import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

const checkout = resolve(import.meta.dirname, "../..")

/** A new folder on the disk of the checkout (never tmpfs); it goes with the scope. */
export const workspace: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(checkout, ".bench-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)
