import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { IncomingMessage, ServerResponse } from "node:http"
import { decodeEnvelope, mayBeUnsigned } from "../../domain/Envelope.ts"
import type { Receiver } from "../../services/IntercomServer.ts"
import { bodyHash } from "../Hash.ts"
import { accepted, type Answer, foreign, health, notFound, notHttp, type Proof, refusal, respond } from "./Answer.ts"
import { authenticate, isForeign, unauthenticated } from "./Authenticate.ts"
import * as Body from "./Body.ts"
import { decide } from "./Decide.ts"
import type { Limits } from "./Limits.ts"
import type { Nonces } from "./Nonces.ts"

const closed = refusal(503, "the session is closing and takes nothing any more; nothing was done")
const wrongType = refusal(415, "the content type must be application/json")
const tooLarge = refusal(413, "the message is over 320 KiB")
const notUtf8 = refusal(400, "the message is not valid UTF-8")
const notForUs = refusal(400, "the message is for another session than the one at this port")
const tampered = refusal(401, "the body is not the one that was signed")

const isJson = (type: string | undefined): boolean => /^application\/json\s*(;|$)/i.test(type ?? "")

/** An envelope that may be decided about, or the answer to one that may not. */
const judge = (body: Buffer, receiver: Receiver, signedBody: string | undefined) => {
  if (signedBody !== undefined && bodyHash(body) !== signedBody) return Either.left(tampered)
  const text = Body.textOf(body)
  if (text === undefined) return Either.left(notUtf8)
  return decodeEnvelope(text).pipe(
    Either.mapLeft((sentence) => refusal(400, sentence)),
    Either.filterOrLeft((envelope) => envelope.to === receiver.sessionId, () => notForUs),
    Either.filterOrLeft((envelope) => signedBody !== undefined || mayBeUnsigned(envelope.kind), () => unauthenticated)
  )
}

/**
 * Serves one request: everything that its head decides before its body is read, then the body, then the receiver
 * (spec 2.1, 2.2). Ends when the answer is handed over or the connection is gone.
 */
export const serve = Effect.fnUntraced(function*(
  request: IncomingMessage,
  response: ServerResponse,
  receiver: Receiver,
  nonces: Nonces,
  limits: Limits
) {
  const { headers, method = "", url: path = "" } = request
  const answer = (given: Answer, proof?: Proof) => Effect.sync(() => respond(request, response, given, proof))

  // Node's parser takes a line without a version for HTTP/0.9, and headers after it all the same.
  if (request.httpVersionMajor !== 1) return yield* answer(notHttp)
  if (isForeign(headers, request.socket.localPort)) return yield* answer(foreign)
  const route = `${method} ${path.split("?", 1)[0]}`
  if (route !== "GET /intercom/health" && route !== "POST /intercom") return yield* answer(notFound)

  const { authorization } = headers
  const sender = yield* authenticate({ method, path, authorization }, yield* receiver.key, nonces)
  const proof = sender._tag === "Unsigned" ? undefined : sender.proof
  const open = yield* receiver.open

  if (route === "GET /intercom/health") {
    if (sender._tag === "Refused" && proof !== undefined && sender.answer.status === 503) {
      return yield* answer(sender.answer, proof)
    }
    return yield* answer(open ? health(receiver.sessionId) : closed, proof)
  }

  if (!isJson(headers["content-type"])) return yield* answer(wrongType, proof)
  if (Body.declaresTooMuch(request)) return yield* answer(tooLarge, proof)
  if (sender._tag === "Refused") return yield* answer(sender.answer, proof)
  if (sender._tag === "Unsigned" && !receiver.allowUnauthenticated) return yield* answer(unauthenticated)
  if (!open) return yield* answer(closed, proof)

  const body = yield* Effect.either(Body.read(request))
  if (Either.isLeft(body)) return body.left === "gone" ? undefined : yield* answer(tooLarge, proof)
  const envelope = judge(body.right, receiver, sender._tag === "Signed" ? sender.body : undefined)
  if (Either.isLeft(envelope)) return yield* answer(envelope.left, proof)

  const decision = yield* decide((commit) => receiver.receive(envelope.right, proof !== undefined, commit), limits)
  switch (decision._tag) {
    case "Accepted":
      return yield* answer(accepted, proof)
    case "Refused": {
      const { code, sentence, status } = decision.refusal
      return yield* answer(refusal(status, sentence, code), proof)
    }
    case "Cut":
      return yield* Effect.sync(() => request.socket.destroy())
  }
})
