import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

// On the disk of the checkout, never tmpfs, and where neither git nor a check of the checkout looks.
const modules = resolve(import.meta.dirname, "../../node_modules")

/** A new folder that goes with the scope. */
export const workspace: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(modules, ".bench-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)
