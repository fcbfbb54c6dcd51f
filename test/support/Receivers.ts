import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Envelope } from "../../src/domain/Envelope.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import type { Receiver } from "../../src/services/IntercomServer.ts"
import { keyOf } from "./SecretsMemory.ts"

export const root = "/team"
export const sender = SessionId.make("sender")
export const recipient = SessionId.make("recipient")

/** An envelope from {@link sender} to {@link recipient}. */
export const message = (text: string): Envelope => ({
  version: 1,
  kind: "message",
  from: sender,
  to: recipient,
  payload: { message: text }
})

/** A receiver that accepts and keeps what it gets, with the team's key. */
export const keeping = (changes: Partial<Receiver> = {}) => {
  const received: Array<{ readonly envelope: Envelope; readonly signed: boolean }> = []
  const receiver: Receiver = {
    sessionId: recipient,
    open: Effect.succeed(true),
    key: Effect.succeed(Option.some(keyOf(root))),
    allowUnauthenticated: false,
    receive: (envelope, signed, commit) => commit(Effect.sync(() => received.push({ envelope, signed }))),
    ...changes
  }
  return { receiver, received }
}
