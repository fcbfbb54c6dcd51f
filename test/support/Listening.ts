import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { encodeEnvelope } from "../../src/domain/Envelope.ts"
import type { Port } from "../../src/domain/Primitives.ts"
import { canonicalAnswer, proofHeader } from "../../src/domain/Signature.ts"
import * as ServerHttp from "../../src/layers/IntercomServer/Http.ts"
import { limits } from "../../src/layers/IntercomServer/Limits.ts"
import type { Receiver } from "../../src/services/IntercomServer.ts"
import { authorize, hash, head, raw, type RawAnswer, type Signing } from "./RawHttp.ts"
import { keeping, message, root } from "./Receivers.ts"
import * as SecretsMemory from "./SecretsMemory.ts"

/** A real listener, and requests to it that are as they should be but for what a test changes. */

export const key = SecretsMemory.keyOf(root)
export const hello = encodeEnvelope(message("hello"))
export const nonce = "nonce-of-a-request"

/** A listener of its own, and what reached its receiver. */
export const listening = (changes: Partial<Receiver> = {}, changed: Partial<typeof limits> = {}) =>
  Effect.gen(function*() {
    const { received, receiver } = keeping(changes)
    const server = yield* ServerHttp.makeWith({ ...limits, ...changed })
    return { port: yield* server.listen(Option.none(), receiver), received }
  })

export interface Post {
  readonly line?: string
  readonly body?: string | Buffer
  readonly signing?: Signing
  readonly headers?: Readonly<Record<string, string | number | undefined>>
}

/** The head of a signed POST with everything as it should be, but for what is given. */
export const postHead = (
  port: Port,
  { body = hello, headers = {}, line = "POST /intercom", signing = {} }: Post = {}
) =>
  Effect.map(authorize(key, { body, nonce, ...signing }), (authorization) =>
    head(line, {
      host: `127.0.0.1:${port}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization,
      ...headers
    }))

/** A signed POST with everything as it should be, but for what is given. */
export const post = (port: Port, given: Post = {}) =>
  Effect.flatMap(postHead(port, given), (text) => raw(port, text, given.body ?? hello))

/** The sentence of an error answer; empty when it is none. */
export const errorOf = (answer: RawAnswer): string => {
  const body: unknown = JSON.parse(answer.body)
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "string"
    ? body.error
    : ""
}

export const isProven = (answer: RawAnswer, of = nonce): boolean =>
  key.verify(
    canonicalAnswer({ nonce: of, status: answer.status, body: hash(answer.body) }),
    answer.headers[proofHeader] ?? ""
  )

/** An error answer as spec 2.1 has it; `proven` exactly when the mac of the request was valid. */
export const assertError = (answer: RawAnswer, status: number, proven: boolean): void => {
  assert.deepStrictEqual([answer.status, answer.reset], [status, false])
  assert.strictEqual(answer.headers["content-type"], "application/json")
  assert.isAbove(errorOf(answer).length, 0)
  assert.strictEqual(proofHeader in answer.headers, proven)
  if (proven) assert.isTrue(isProven(answer))
}
