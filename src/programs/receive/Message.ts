import * as Effect from "effect/Effect"
import type { EnvelopeOf } from "../../domain/Envelope.ts"
import type { Commit } from "../../services/IntercomServer.ts"
import { Delivery } from "../Delivery.ts"
import type { Member } from "../Membership.ts"
import { notTaken, senderOf } from "./Context.ts"

/** A team member's message goes to the host as it is (spec 3.4). */
export const message = Effect.fn("receive.message")(
  function*(standing: Member, envelope: EnvelopeOf<"message">, commit: Commit) {
    const delivery = yield* Delivery
    const text = envelope.payload.message
    yield* delivery.deliver("message", senderOf(standing, envelope.from), text, commit).pipe(Effect.mapError(notTaken))
  }
)
