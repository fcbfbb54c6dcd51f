import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Attempt, attemptOf, endAttempt } from "../domain/Ledger.ts"
import { parseTrace } from "../domain/Pane.ts"
import { SessionId } from "../domain/Primitives.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { ProcessLedger } from "../services/ProcessLedger.ts"

/**
 * One resume at a time in this session: whoever comes second looks again at everything that the first one has changed
 * (spec 5.5: no two processes on one saved session).
 */
export class Resuming extends Context.Tag("pi-intercom/Resuming")<Resuming, Effect.Semaphore>() {
  static readonly layer = Layer.effect(Resuming, Effect.makeSemaphore(1))
}

/** Ends an attempt, if it is still the one that is open. */
export const settle = Effect.fn("Attempts.settle")(function*(root: string, sessionId: SessionId, attempt: Attempt) {
  yield* (yield* ProcessLedger).change(root, endAttempt(sessionId, attempt.at))
})

/** The attempt, unless its pane is proven gone: then it is ended. */
const unlessGone = Effect.fn("Attempts.unlessGone")(function*(root: string, sessionId: SessionId, attempt: Attempt) {
  if (attempt.pane === undefined || !(yield* (yield* Multiplexers).gone(attempt.pane))) return attempt
  yield* settle(root, sessionId, attempt)
  return undefined
})

/** The open attempt of a session, after one whose pane is proven gone has been ended. */
export const openAttempt = Effect.fn("Attempts.open")(function*(root: string, sessionId: SessionId) {
  const attempt = attemptOf(yield* (yield* ProcessLedger).read(root), sessionId)
  return attempt && (yield* unlessGone(root, sessionId, attempt))
})

/** All sessions with an open attempt, as {@link openAttempt} has it. */
export const openAttempts = Effect.fn("Attempts.all")(function*(root: string) {
  const { attempts } = yield* (yield* ProcessLedger).read(root)
  const ids = Object.keys(attempts).map((id) => SessionId.make(id))
  return yield* Effect.filter(ids, (id) => Effect.map(openAttempt(root, id), (attempt) => attempt !== undefined), {
    concurrency: 4
  })
})

/** When and where an attempt was submitted, as part of a sentence. */
export const submitted = ({ at, pane }: Attempt): string => {
  const trace = pane === undefined ? undefined : parseTrace(pane)
  return `was submitted at ${at}` +
    (trace === undefined ? ", and which pane it opened is not known" : ` in ${trace.multiplexer} pane ${trace.paneId}`)
}
