import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { LockNotTaken, StateUnusable } from "../domain/ConfigErrors.ts"
import type { SessionId } from "../domain/Primitives.ts"

/**
 * Locks between processes, in the state folder of a root (spec 1.4). An owner that is not proven gone is waited for up
 * to 2 s; one that is proven gone is replaced, by one taker only.
 */
export class OwnedLock extends Context.Tag("pi-intercom/OwnedLock")<OwnedLock, {
  /** Runs `use` under `config.lock`: whoever changes the team file. Innermost, and never taken twice by one update. */
  readonly config: <A, E, R>(
    root: string,
    use: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | LockNotTaken | StateUnusable, R>
  /** Runs `use` under `monitor.lock`: whoever looks after a team's monitor pane (spec 5.6). */
  readonly monitor: <A, E, R>(
    root: string,
    use: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | LockNotTaken | StateUnusable, R>
  /** Takes `session-<24 hex of sha256(session id)>.lock`, one process on one saved session (spec 3.2), until the scope closes. */
  readonly session: (
    root: string,
    sessionId: SessionId
  ) => Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope>
  /**
   * Passes when a process that starts now could take the session's lock: nobody has it, or its owner is proven gone and
   * nobody is replacing it. Looks once, takes nothing and waits for nobody.
   */
  readonly sessionFree: (root: string, sessionId: SessionId) => Effect.Effect<void, LockNotTaken | StateUnusable>
}>() {}
