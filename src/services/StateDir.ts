import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"

/**
 * The machine-local folder of a root, outside the project: `<state>/<24 hex of sha256(real path of root)>/` (spec 1.3).
 */
export class StateDir extends Context.Tag("pi-intercom/StateDir")<StateDir, {
  /** `<state>`, resolved once: what a launched child gets as `PI_INTERCOM_STATE_DIR`. Creates nothing. */
  readonly base: Effect.Effect<string, StateUnusable>
  /** The folder of a root: made with 0700 if missing, verified to be this user's, private, and free of links. */
  readonly of: (root: string) => Effect.Effect<string, StateUnusable>
}>() {}
