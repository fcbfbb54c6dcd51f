import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { canonicalAnswer, canonicalRequest, formatAuthorization, proofHeader } from "../../domain/Signature.ts"
import type { SigningKey } from "../../services/Secrets.ts"
import { bodyHash } from "../Hash.ts"
import { type Answer, exchange, type ExchangeFailed, type Request } from "./Exchange.ts"

/** An answer, and whether the holder of the team's key gave exactly it to exactly our request. */
export interface Judged {
  readonly status: number
  readonly body: string
  readonly proven: boolean
}

const isProven = (key: SigningKey, nonce: string, answer: Answer): boolean => {
  const proof = answer.headers[proofHeader]
  return typeof proof === "string" &&
    key.verify(canonicalAnswer({ nonce, status: answer.status, body: bodyHash(answer.body) }), proof)
}

/** Exchanges without a signature: nothing that is answered is proven. */
export const unsigned = (request: Request): Effect.Effect<Judged, ExchangeFailed> =>
  Effect.map(exchange(request), ({ body, status }) => ({ status, body: body.toString("utf8"), proven: false }))

/** Signs a request with a fresh nonce, and checks the proof of its answer (spec 2.2). */
export const signed = (request: Request, key: SigningKey, nonce: string): Effect.Effect<Judged, ExchangeFailed> =>
  Effect.gen(function*() {
    const ts = yield* Clock.currentTimeMillis
    const claim = { ts, nonce, body: bodyHash(request.body) }
    const mac = key.mac(canonicalRequest({ ...claim, method: request.method, path: request.path }))
    const authorization = formatAuthorization({ ...claim, mac })
    const answer = yield* exchange({ ...request, headers: { ...request.headers, authorization } })
    return { status: answer.status, body: answer.body.toString("utf8"), proven: isProven(key, nonce, answer) }
  })
