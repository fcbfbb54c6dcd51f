import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { SessionId } from "../domain/Primitives.ts"
import type { SessionReplaced } from "../domain/SessionErrors.ts"

/** The fence of one Pi session: everything done for it hangs on this scope (spec 3.1). */
export class SessionScope extends Context.Tag("pi-intercom/SessionScope")<SessionScope, {
  /** The id that the scope was opened for. */
  readonly sessionId: SessionId
  /** Passes while the fence is open and the host is still on this session. */
  readonly guard: Effect.Effect<void, SessionReplaced>
  /** Whether the fence is open: a plain look, for commit points. */
  readonly isOpen: () => boolean
  /**
   * Runs an effect in the background of the session; interrupted when the fence closes, wherever it was begun. Its failure
   * is not reported.
   */
  readonly fork: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Fiber.RuntimeFiber<A, E>, never, R>
  /** Closes last, when everything else of the session has been released: the session's lock hangs on it. */
  readonly last: Scope.Scope
}>() {}
