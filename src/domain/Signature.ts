/**
 * The canonical forms that requests and answers are signed over (spec 2.2). Pure: the mac itself is made where the
 * secret is.
 */

/** A request is fresh within ±30 s of the receiver's clock. */
export const clockSkewMs = 30_000
/** A nonce is remembered until its ts + 60 s. */
export const nonceLifeMs = 60_000
/** At most this many nonces are remembered; a full store refuses rather than forgets. */
export const maxNonces = 65_536
/** The answer's proof header. */
export const proofHeader = "x-intercom-proof"

/** The parts of `authorization: Intercom ts=…, nonce=…, body=…, mac=…`. `body` and `mac` are base64url. */
export interface Authorization {
  readonly ts: number
  readonly nonce: string
  readonly body: string
  readonly mac: string
}

/** The text a request's mac is over. `path` includes the query; `body` is the base64url sha256 of the body. */
export const canonicalRequest = (request: {
  readonly method: string
  readonly path: string
  readonly ts: number
  readonly nonce: string
  readonly body: string
}): string =>
  ["intercom-request-1", request.method, request.path, String(request.ts), request.nonce, request.body].join("\n")

/** The text an answer's proof is over. `body` is the base64url sha256 of the answer's body. */
export const canonicalAnswer = (answer: {
  readonly nonce: string
  readonly status: number
  readonly body: string
}): string => ["intercom-answer-1", answer.nonce, String(answer.status), answer.body].join("\n")

/** The header's text. */
export const formatAuthorization = (authorization: Authorization): string =>
  `Intercom ts=${authorization.ts}, nonce=${authorization.nonce}, body=${authorization.body}, mac=${authorization.mac}`

const form = /^Intercom ts=(\d{1,15}), nonce=([A-Za-z0-9_-]{16,64}), body=([A-Za-z0-9_-]{43}), mac=([A-Za-z0-9_-]{43})$/

/** Reads the header; anything but the exact form is `undefined`. */
export const parseAuthorization = (header: string | undefined): Authorization | undefined => {
  const parts = header === undefined ? null : form.exec(header)
  if (parts === null) return undefined
  const [, ts = "", nonce = "", body = "", mac = ""] = parts
  return { ts: Number(ts), nonce, body, mac }
}
