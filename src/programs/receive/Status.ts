import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { StateUnusable } from "../../domain/ConfigErrors.ts"
import type { EnvelopeOf } from "../../domain/Envelope.ts"
import { attemptOf, endAttempt } from "../../domain/Ledger.ts"
import type { Port } from "../../domain/Primitives.ts"
import { agentBySession, proposeConfig, type TeamConfig } from "../../domain/TeamConfig.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { Delivery } from "../Delivery.ts"
import { type Member, Membership } from "../Membership.ts"
import { notTaken, senderOf } from "./Context.ts"

/** The config with a session's saved port; the same reference when it has that port, or no entry. */
export const withPort = (sessionId: string, port: Port) => (config: TeamConfig) => {
  const agent = agentBySession(config, sessionId)
  if (agent === undefined || agent.port === port) return Either.right(config)
  const agents = config.agents.map((one) => one === agent ? { ...agent, port } : one)
  return proposeConfig(config, { agents })
}

const unsaved: Refusal = {
  status: 400,
  sentence: "the coordinator could not save the new port, so it did not show the status"
}

const untold: Refusal = {
  status: 400,
  sentence: "the new port is saved, but the coordinator's model could not be told of it"
}

/** A status is shown whatever has become of the ledger: then a resume stays open, which a person can settle. */
const unrecorded = <A, R>(effect: Effect.Effect<A, StateUnusable, R>): Effect.Effect<A | undefined, never, R> =>
  Effect.catchAll(effect, (failed) => Effect.as(Effect.logWarning(failed.message), undefined))

/**
 * A configured worker's status updates its saved port when that differs; every status is shown (spec 3.3), and ends an
 * open resume of its session (spec 5.5). An unsigned one is not known to be of that session: it settles nothing.
 */
export const status = Effect.fn("receive.status")(
  function*(standing: Member, envelope: EnvelopeOf<"status">, signed: boolean, commit: Commit) {
    const { busy, port } = envelope.payload
    const delivery = yield* Delivery
    const { sessionId } = yield* Membership
    const store = yield* ConfigStore
    const ledger = yield* ProcessLedger
    const { guard } = yield* SessionScope
    yield* (yield* ObservationLog).record({ event: "status.received", peerSessionId: envelope.from, port, busy })
    // As it is now: a resume that begins while this waits to be shown is not answered by it.
    const attempt = signed
      ? yield* unrecorded(Effect.map(ledger.read(standing.root), (recorded) => attemptOf(recorded, envelope.from)))
      : undefined
    const agent = agentBySession(standing.config, envelope.from)
    const moved = agent !== undefined && agent.port !== port
    if (moved) {
      yield* commit(Effect.mapError(
        store.update(standing.root, sessionId, guard, withPort(envelope.from, port)),
        () => unsaved
      ))
    }
    yield* delivery.gather(
      "status",
      senderOf(standing, envelope.from),
      `port: ${port}\nbusy: ${busy ? "yes" : "no"}`,
      commit(
        attempt === undefined
          ? Effect.void
          : unrecorded(ledger.change(standing.root, endAttempt(envelope.from, attempt.at)))
      )
    ).pipe(Effect.mapError((error) => moved ? untold : notTaken(error)))
  }
)
