import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import { encodeHealth } from "../../domain/Probe.ts"
import { canonicalAnswer, proofHeader } from "../../domain/Signature.ts"
import type { SigningKey } from "../../services/Secrets.ts"
import { bodyHash } from "../Hash.ts"

/** An answer of ours: always JSON (spec 2.1). */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** What an answer is proven with: there is one exactly when the request's mac was valid (spec 2.2). */
export interface Proof {
  readonly key: SigningKey
  readonly nonce: string
}

export const accepted: Answer = { status: 202, body: JSON.stringify({ accepted: true }) }
export const health = (sessionId: string): Answer => ({ status: 200, body: encodeHealth(sessionId) })
/** `{"error", "code"?}` */
export const refusal = (status: number, error: string, code?: string): Answer => ({
  status,
  body: JSON.stringify(code === undefined ? { error } : { error, code })
})
export const foreign = refusal(403, "this port takes requests from the sessions of one team only, not from browsers")
export const notFound = refusal(404, "there is nothing here")
export const notHttp = refusal(400, "the request is not valid HTTP")

const headersOf = (answer: Answer, proof: Proof | undefined): Record<string, string | number> => {
  const plain = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(answer.body),
    connection: "close"
  }
  if (proof === undefined) return plain
  const text = canonicalAnswer({ nonce: proof.nonce, status: answer.status, body: bodyHash(answer.body) })
  return { ...plain, [proofHeader]: proof.key.mac(text) }
}

/** What a client may still send after its answer; twice what any test or proxy of ours has seen in flight. */
const maxDrainedBytes = 16 * 1024 * 1024

/**
 * Answers, and closes the connection only once the request is through: closing with unread bytes resets it, and the
 * client would lose the answer. Bounded in bytes here, in time by the listener's arrival limit.
 */
export const respond = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  proof: Proof | undefined
): void => {
  if (response.headersSent || response.destroyed) return
  response.writeHead(answer.status, headersOf(answer, proof))
  if (request.complete) {
    response.end(answer.body)
    return
  }
  response.write(answer.body)
  let drained = 0
  request.on("data", (chunk: Buffer) => {
    drained += chunk.length
    if (drained > maxDrainedBytes) request.socket.destroy()
  })
  request.on("end", () => response.end())
  request.resume()
}

/** An answer for what never became a request: too slow, not HTTP, or for a tunnel. */
export const rawAnswer = (answer: Answer): string =>
  `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n` +
  Object.entries(headersOf(answer, undefined)).map(([name, value]) => `${name}: ${value}\r\n`).join("") +
  `\r\n${answer.body}`
