import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { LockNotTaken, StateUnusable } from "../domain/ConfigErrors.ts"
import type { SessionId } from "../domain/Primitives.ts"

type Taking = Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope>

/**
 * Locks between processes, in the state folder of a root (spec 1.4). A lock is held until the scope closes. An owner
 * that is not proven gone is waited for up to 2 s; one that is proven gone is replaced, by one taker only.
 */
export class OwnedLock extends Context.Tag("pi-intercom/OwnedLock")<OwnedLock, {
  /** `config.lock`: whoever changes the team file. Innermost, and never taken twice by one update. */
  readonly config: (root: string) => Taking
  /** `session-<24 hex of sha256(session id)>.lock`: one process on one saved session (spec 3.2). */
  readonly session: (root: string, sessionId: SessionId) => Taking
  /**
   * Passes when a process that starts now could take the session's lock: nobody has it, or its owner is proven gone and
   * nobody is replacing it. Looks once, takes nothing and waits for nobody.
   */
  readonly sessionFree: (root: string, sessionId: SessionId) => Effect.Effect<void, LockNotTaken | StateUnusable>
}>() {}
