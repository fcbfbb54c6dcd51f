import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"
import type { Envelope } from "../domain/Envelope.ts"
import type { Port } from "../domain/Primitives.ts"
import type { Probe } from "../domain/Probe.ts"
import type { SendError } from "../domain/WireErrors.ts"

/** Where a session is said to listen: from the team file, or from its registration. */
export interface Endpoint {
  readonly sessionId: string
  readonly port: Port
}

/** Sends and probes over loopback, signed with the key of a root's team (spec 2.4, 2.5). */
export class IntercomClient extends Context.Tag("pi-intercom/IntercomClient")<IntercomClient, {
  /**
   * Posts one envelope once, on a new connection, within 5 s in all; the body goes only to a holder of the port that
   * has proven itself within the last 30 s. Never repeated.
   */
  readonly send: (
    root: string,
    to: Endpoint,
    envelope: Envelope
  ) => Effect.Effect<void, SendError | StateUnusable>
  /** Asks the health route, signed, within 750 ms. Never fails: what could not be seen is a state of its own. */
  readonly probe: (root: string, endpoint: Endpoint) => Effect.Effect<Probe>
  /**
   * Probes at most 256 endpoints, 16 at a time in the given order, within 4 s; one result for each endpoint, the
   * unreached are `not_checked`. The caller puts those first in its next batch, so that none starves.
   */
  readonly probeAll: (root: string, endpoints: ReadonlyArray<Endpoint>) => Effect.Effect<ReadonlyArray<Probe>>
}>() {}
