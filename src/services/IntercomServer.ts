import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Envelope } from "../domain/Envelope.ts"
import type { Port } from "../domain/Primitives.ts"
import type { SigningKey } from "./Secrets.ts"

/** A receiver's answer that is not 202 (spec 2.1): 400 refused, 503 not decided (the effect never happens). */
export interface Refusal {
  readonly status: 400 | 503
  readonly sentence: string
  readonly code?: string
}

/**
 * Runs the one step after which a message has had its effect, uninterruptibly, in whatever fiber it is called. Once it
 * has begun the sender is told the truth or the connection is cut; after the 4 s it does not begin any more and fails
 * with the 503 that the sender was told (spec 2.1, decide in time). Interruption alone could not tell the two apart: an
 * interrupted fiber ends as interrupted even when its last, uninterruptible step succeeded.
 */
export type Commit = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Refusal, R>

/** What a listener serves: one session. */
export interface Receiver {
  readonly sessionId: string
  /** False once the session's fence is closed: health answers 503. */
  readonly open: Effect.Effect<boolean>
  /** The team's key; none while there is no team (every POST gets 401). */
  readonly key: Effect.Effect<Option.Option<SigningKey>>
  /** Whether unsigned messages of the kinds that allow it are taken (PI_INTERCOM_ALLOW_UNAUTHENTICATED). */
  readonly allowUnauthenticated: boolean
  /**
   * Decides about an authenticated envelope that is addressed to this session. Interrupted at 4 s unless `commit` has
   * begun; every effect goes through `commit`. `signed` is false only with allowUnauthenticated.
   */
  readonly receive: (envelope: Envelope, signed: boolean, commit: Commit) => Effect.Effect<void, Refusal>
}

/** No port on 127.0.0.1 could be bound. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly detail: string }> {
  override get message(): string {
    return `No port on 127.0.0.1 could be opened: ${this.detail}`
  }
}

/** The scoped loopback listener of a session (spec 2). */
export class IntercomServer extends Context.Tag("pi-intercom/IntercomServer")<IntercomServer, {
  /**
   * Listens on 127.0.0.1: on `saved` if it is free, else (EADDRINUSE only) on a port the system chooses. Closing the
   * scope closes the listener at once, open connections included.
   */
  readonly listen: (
    saved: Option.Option<Port>,
    receiver: Receiver
  ) => Effect.Effect<Port, ListenFailed, Scope.Scope>
}>() {}
