import * as Effect from "effect/Effect"
import type { StateUnusable } from "../../domain/ConfigErrors.ts"
import { Rejected, type SendError } from "../../domain/WireErrors.ts"
import { type Deadline, within } from "./Deadline.ts"

/** How the sending of one message of a job ended; a refusal is the recipient's word that it had no effect. */
export type Sent = "accepted" | "undelivered" | "deadline" | Rejected

/** Whether it may not have arrived, or could not be decided about: then it is sent again (spec 6.2). */
const again = (error: SendError | StateUnusable): boolean => !(error instanceof Rejected) || error.status === 503

const waits = [250, 500, 1_000]
const waitMs = (attempt: number): number => waits[attempt] ?? 2_000

/**
 * Sends one message of a job until it is accepted or refused, or the deadline has passed, with waits of 0.25, 0.5, 1, 2,
 * 2, … s (spec 6.2); each is idempotent at its recipient. `undelivered` ends it after that many sends of which it is
 * known that nothing was sent. Who learns otherwise that it arrived interrupts it.
 */
export const untilDecided = <R>(
  send: Effect.Effect<void, SendError | StateUnusable, R>,
  deadline: Deadline,
  undelivered = Number.POSITIVE_INFINITY
): Effect.Effect<Sent, never, R> => {
  const from = (attempt: number, unsent: number): Effect.Effect<Sent, never, R> =>
    Effect.matchEffect(send, {
      onSuccess: () => Effect.succeed("accepted" as const),
      onFailure: (error): Effect.Effect<Sent, never, R> => {
        if (error instanceof Rejected && !again(error)) return Effect.succeed(error)
        const nothing = error._tag === "Undelivered" || error._tag === "StateUnusable" ? unsent + 1 : unsent
        return nothing >= undelivered
          ? Effect.succeed("undelivered")
          : Effect.zipRight(Effect.sleep(waitMs(attempt)), from(attempt + 1, nothing))
      }
    })
  return within(deadline, from(0, 0))
}
