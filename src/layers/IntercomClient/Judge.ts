import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { plainLine } from "../../domain/Delivery.ts"
import { AcceptedBody, ErrorBody } from "../../domain/Envelope.ts"
import { OutcomeUnknown, Rejected, sentenceForStatus, Undelivered } from "../../domain/WireErrors.ts"
import type { ExchangeFailed } from "./Exchange.ts"
import type { Judged } from "./Signed.ts"

const maxSentence = 500

const isAccepted = Schema.decodeUnknownOption(Schema.parseJson(AcceptedBody))
const decodeError = Schema.decodeUnknownOption(Schema.parseJson(ErrorBody))

/** A proven error in its own words, cleaned, at most 500 characters; anybody else's in ours (spec 2.4). */
export const rejectionOf = (answer: Judged): Rejected => {
  const { status } = answer
  const said = answer.proven ? decodeError(answer.body) : Option.none()
  const sentence = Option.isSome(said) ? plainLine(said.value.error).slice(0, maxSentence) : ""
  if (Option.isNone(said) || sentence === "") return new Rejected({ status, sentence: sentenceForStatus(status) })
  const { code } = said.value
  return new Rejected({ status, sentence, ...(code === undefined ? {} : { code }) })
}

/** What the answer to a posted envelope means; `unprovenCounts` only where unauthenticated teams are allowed. */
export const outcomeOf = (answer: Judged, unprovenCounts: boolean): Effect.Effect<void, Rejected | OutcomeUnknown> => {
  if (answer.status >= 400) return Effect.fail(rejectionOf(answer))
  if (answer.status !== 202) return Effect.fail(new OutcomeUnknown({ reason: "malformed" }))
  if (!answer.proven && !unprovenCounts) return Effect.fail(new OutcomeUnknown({ reason: "unproven" }))
  return Option.isSome(isAccepted(answer.body)) ? Effect.void : Effect.fail(new OutcomeUnknown({ reason: "malformed" }))
}

/** What it means for an envelope that its own request got no whole answer. */
export const lossOf = ({ reason }: ExchangeFailed): Undelivered | OutcomeUnknown =>
  reason === "refused" || reason === "unreachable" ? new Undelivered({ reason }) : new OutcomeUnknown({ reason })
