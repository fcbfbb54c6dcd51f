import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { IncomingHttpHeaders } from "node:http"
import { canonicalRequest, clockSkewMs, parseAuthorization } from "../../domain/Signature.ts"
import type { SigningKey } from "../../services/Secrets.ts"
import { type Answer, type Proof, refusal } from "./Answer.ts"
import type { Nonces } from "./Nonces.ts"

/** Whether a request comes from a browser, or was not addressed to this listener by a loopback name (spec 2.2). */
export const isForeign = (headers: IncomingHttpHeaders, port: number | undefined): boolean =>
  headers.origin !== undefined || headers["sec-fetch-site"] !== undefined || headers["sec-fetch-mode"] !== undefined ||
  (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`)

/** What a request's head proves, before any of its body is read. */
export type Authentication =
  | { readonly _tag: "Unsigned" }
  /** `body` is the hash that the body must have. */
  | { readonly _tag: "Signed"; readonly proof: Proof; readonly body: string }
  /** Not to be served; with a proof exactly when the mac was valid. */
  | { readonly _tag: "Refused"; readonly answer: Answer; readonly proof: Proof | undefined }

/** One sentence for every failure before the mac is valid: a stranger learns nothing from it. */
export const unauthenticated = refusal(401, "the request is not signed by a session of this team")

const refused = (answer: Answer, proof?: Proof): Authentication => ({ _tag: "Refused", answer, proof })

/** Header, clock, mac in constant time, nonce not seen: in this order (spec 2.2). */
export const authenticate = (
  request: { readonly method: string; readonly path: string; readonly authorization: string | undefined },
  key: Option.Option<SigningKey>,
  nonces: Nonces
): Effect.Effect<Authentication> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (Option.isNone(key)) return refused(unauthenticated)
    if (request.authorization === undefined) return { _tag: "Unsigned" }
    const claim = parseAuthorization(request.authorization)
    if (claim === undefined || Math.abs(now - claim.ts) > clockSkewMs) return refused(unauthenticated)
    const text = canonicalRequest({ ...claim, method: request.method, path: request.path })
    if (!key.value.verify(text, claim.mac)) return refused(unauthenticated)
    const proof = { key: key.value, nonce: claim.nonce }
    switch (nonces.add(claim.nonce, claim.ts, now)) {
      case "added":
        return { _tag: "Signed", proof, body: claim.body }
      case "seen":
        return refused(refusal(401, "this request was received before"), proof)
      case "full":
        return refused(refusal(503, "too many requests in the last minute; nothing was done"), proof)
    }
  })
