import * as Effect from "effect/Effect"
import type { EnvelopeOf } from "../../domain/Envelope.ts"
import { agentBySession } from "../../domain/TeamConfig.ts"
import type { Commit } from "../../services/IntercomServer.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { Delivery } from "../Delivery.ts"
import type { Member } from "../Membership.ts"
import { Newcomers } from "../Newcomers.ts"
import { notTaken, senderOf } from "./Context.ts"

/** A registration is told to the coordinator's model and writes nothing: the model decides (spec 3.3). */
export const registration = Effect.fn("receive.registration")(
  function*(standing: Member, envelope: EnvelopeOf<"registration">, commit: Commit) {
    const delivery = yield* Delivery
    const newcomers = yield* Newcomers
    const { port, projectDirectory } = envelope.payload
    yield* (yield* ObservationLog).record({
      event: "registration.received",
      peerSessionId: envelope.from,
      port
    })
    const known = agentBySession(standing.config, envelope.from) !== undefined
    const next = known
      ? "It has an entry already: intercom_reload_worker makes it load it."
      : "Configure it with intercom_configure_worker (all five values), then intercom_reload_worker."
    yield* delivery.gather(
      "registration",
      senderOf(standing, envelope.from),
      `sessionId: ${JSON.stringify(envelope.from)}\nport: ${port}\nprojectDirectory: ${
        JSON.stringify(projectDirectory)
      }\n${next}`,
      commit(newcomers.note({ sessionId: envelope.from, port, projectDirectory }))
    ).pipe(Effect.mapError(notTaken))
  }
)
