import * as Effect from "effect/Effect"
import type { Sender } from "../../domain/Delivery.ts"
import { NotTaken, Refused } from "../../domain/SessionErrors.ts"
import { agentBySession } from "../../domain/TeamConfig.ts"
import type { Refusal } from "../../services/IntercomServer.ts"
import type { Member } from "../Membership.ts"

/** Who an envelope is from, as this session's fresh config knows it. */
export const senderOf = (standing: Member, from: string): Sender => {
  const agent = agentBySession(standing.config, from)
  return agent === undefined ? { sessionId: from } : { name: agent.name, sessionId: from }
}

/** A known refusal: the effect did not happen. */
export const refused = (error: Refused): Refusal => ({
  status: 400,
  sentence: error.sentence,
  ...(error.code === undefined ? {} : { code: error.code })
})

/** The host did not take it; since that is known, 503 is the truth: the effect never happens. */
export const notTaken = (error: NotTaken | Refusal): Refusal =>
  error instanceof NotTaken ? { status: 503, sentence: error.message } : error

/** Refuses with one sentence. */
export const refuse = (sentence: string) => Effect.fail(refused(new Refused({ reason: "not_supported", sentence })))
