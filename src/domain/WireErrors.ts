import * as Data from "effect/Data"

/** Nothing was sent: the connection was refused, or the port's holder did not prove itself (spec 2.4). */
export class Undelivered extends Data.TaggedError("Undelivered")<{
  readonly reason: "refused" | "unproven" | "unreachable"
}> {
  override get message(): string {
    return this.reason === "unproven"
      ? "Not delivered: whoever holds the recipient's port did not prove to be that session, so nothing was sent."
      : "Not delivered: nothing listens on the recipient's port, so nothing was sent. The session may be closed."
  }
}

/** A proven error answer, or an unproven one in our own words (spec 2.4). The message had no effect. */
export class Rejected extends Data.TaggedError("Rejected")<{
  readonly status: number
  readonly sentence: string
  readonly code?: string
}> {
  override get message(): string {
    return `The recipient refused it: ${this.sentence.replace(/\.?$/, ".")}`
  }
}

/** It may have been received: deadline, reset, a broken or oversized answer, or a 202 without proof (spec 2.4). */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  readonly reason: "deadline" | "connection" | "malformed" | "oversized" | "unproven"
}> {
  override get message(): string {
    return "Outcome unknown: the recipient may or may not have received it. It was not sent again; ask the recipient before repeating it."
  }
}

export type SendError = Undelivered | Rejected | OutcomeUnknown

const ownWords: Readonly<Record<number, string>> = {
  400: "it did not accept the request",
  401: "it could not authenticate this session",
  403: "it does not take requests like this one",
  404: "it is not an Intercom session",
  408: "the request reached it too slowly",
  413: "the message is too large for it",
  415: "it does not take this content type",
  503: "it says that it could not decide in time"
}

/** Our own sentence for a status whose text must not be passed on, since its sender did not prove itself. */
export const sentenceForStatus = (status: number): string => ownWords[status] ?? `it answered with status ${status}`
