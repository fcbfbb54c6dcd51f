import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The host's queue of mutations of one file, shared with its own edit tool; not re-entrant (facts/pi). */
export class FileMutationQueue extends Context.Tag("pi-intercom/FileMutationQueue")<FileMutationQueue, {
  /** Runs `effect` while it is this caller's turn for `file`. Waiting is not interruptible in the host. */
  readonly run: <A, E, R>(file: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>() {}
