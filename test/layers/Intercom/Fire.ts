import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import { isUtf8 } from "node:buffer"
import { decodeEnvelope, maxBodyBytes } from "../../../src/domain/Envelope.ts"
import type { Port } from "../../../src/domain/Primitives.ts"
import { takes } from "../../support/EnvelopeRules.ts"
import { isProven, listening, post, postHead } from "../../support/Listening.ts"
import { brokenEnvelope, envelope, splice, spliced } from "../../support/Mutations.ts"
import { raw, type RawAnswer } from "../../support/RawHttp.ts"
import { recipient } from "../../support/Receivers.ts"
import { flat, heapBytes, held } from "../../support/Resources.ts"

/** Requests in flight at once: those that are cut off wait for the listener's patience, here 400 ms. */
const atOnce = 64
const arrivalMs = 400
/** What 20,000 remembered nonces and the machinery of the test may keep; a request that leaked would be over 100 MB. */
const keptBytes = 24 * 1024 * 1024

const refusals = new Set([400, 401, 403, 404, 408, 413, 415])

/**
 * What a POST means, read by hand: every line of the head, each name once where it matters. A request that reached the
 * receiver must mean the same as the signed one.
 */
const meaning = (given: Buffer): unknown => {
  // An empty line before the request line is skipped (RFC 9112, 2.2).
  const bytes = given.subarray(/^(\r?\n)*/.exec(given.toString("latin1"))?.[0].length)
  const end = bytes.indexOf("\r\n\r\n")
  const [line = "", ...headers] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const named = (name: string) =>
    headers.flatMap((header) => {
      const colon = header.indexOf(":")
      return header.slice(0, colon).toLowerCase() === name
        ? [header.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, "")]
        : []
    })
  const length = Number(named("content-length")[0])
  return {
    // More than one blank between the parts means one: what is signed is the parts (RFC 9112, 3).
    line: line.replace(/HTTP\/1\.[01]$/, "HTTP/1.x").replace(/ +/g, " "),
    host: named("host"),
    authorization: named("authorization"),
    json: named("content-type").map((type) => /^application\/json\s*(;|$)/i.test(type)),
    foreign: [...named("origin"), ...named("sec-fetch-site"), ...named("sec-fetch-mode")],
    body: bytes.subarray(end + 4, end + 4 + length).toString("base64")
  }
}

/** Refused in our words, by a listener that then closes; a request that never began has no answer. */
const assertRefused = (answer: RawAnswer, begun: boolean, what: string): void => {
  if (answer.status === 0 && !begun) return
  assert.isTrue(refusals.has(answer.status), `${what}: status ${answer.status} ${answer.body}`)
  assert.match(answer.body, /^(HTTP\/1\.1 [\s\S]*)?\{"error":"[^"]{10,120}"\}$/, what)
}

const barrage = <A>(
  cases: ReadonlyArray<A>,
  shoot: (one: A, index: number) => Effect.Effect<void, Error>
): Effect.Effect<void, Error> => Effect.forEach(cases, shoot, { concurrency: atOnce, discard: true })

const afterwards = (port: Port) =>
  Effect.map(
    post(port, { signing: { nonce: "the-one-after-the-fire" } }),
    (answer) => assert.strictEqual(answer.status, 202)
  )

/** `count` requests of each family. The seed makes them again: `PI_INTERCOM_FIRE_SEED=<seed>`. */
export const fire = (count: number, seed: number): void => {
  describe(`${count} mutations of each family, seed ${seed}`, () => {
    const nonceOf = (index: number): string => `fire-${String(index).padStart(12, "0")}`

    it.scopedLive("bytes changed after signing: refused, unless they mean the same", () =>
      Effect.gen(function*() {
        const shots = fc.sample(fc.tuple(envelope, fc.array(splice(2), { minLength: 1, maxLength: 3 })), {
          numRuns: count,
          seed
        })
        const { port, received } = yield* listening({}, { arrivalMs })
        const before = held()
        let delivered = 0
        const sent = new Map<string, string>()
        yield* barrage(shots, ([whole, splices], index) =>
          Effect.gen(function*() {
            const body = JSON.stringify({ ...(typeof whole === "object" ? whole : {}), correlationId: `shot-${index}` })
            const signed = Buffer.from((yield* postHead(port, { body, signing: { nonce: nonceOf(index) } })) + body)
            const bytes = splices.reduce(spliced, signed)
            sent.set(`shot-${index}`, body)
            const answer = yield* raw(port, bytes)
            const what = `seed ${seed}, request ${index}: ${JSON.stringify(bytes.toString("latin1"))}`
            if (answer.status === 202) {
              delivered += 1
              assert.deepStrictEqual(meaning(bytes), meaning(signed), what)
              assert.isTrue(isProven(answer, nonceOf(index)), what)
            } else if (answer.status === 200) {
              assert.match(bytes.toString("latin1"), /^\s*GET \/intercom\/health/, what)
            } else if (answer.status !== 100) {
              assertRefused(answer, /\S/.test(bytes.toString("latin1")), what)
            }
          }))
        assert.strictEqual(received.length, delivered)
        for (const { envelope: seen, signed } of received) {
          assert.isTrue(signed)
          assert.deepStrictEqual(decodeEnvelope(sent.get(seen.correlationId ?? "") ?? ""), Either.right(seen))
        }
        assert.isAbove(delivered, count / 50, "some mutations mean nothing, and those are served")
        assert.isBelow(delivered, count / 2)
        yield* afterwards(port)
        yield* flat(before)
      }))

    it.scopedLive("an envelope broken before signing: 202 or 400, as spec 2.3 says", () =>
      Effect.gen(function*() {
        const shots = fc.sample(brokenEnvelope, { numRuns: count, seed })
        const { port, received } = yield* listening({}, { arrivalMs: 10_000 })
        yield* barrage(
          shots.slice(0, 300),
          (body, index) => Effect.asVoid(post(port, { body, signing: { nonce: `warm-${nonceOf(index)}` } }))
        )
        received.length = 0
        const [before, heap] = [held(), heapBytes()]
        let taken = 0
        yield* barrage(shots, (body, index) =>
          Effect.gen(function*() {
            const answer = yield* post(port, { body, signing: { nonce: nonceOf(index) } })
            const what = `seed ${seed}, envelope ${index}: ${
              body.toString("latin1").slice(0, 2000)
            } → ${answer.status} ${answer.body}`
            const text = isUtf8(body) ? body.toString("utf8") : undefined
            const ours = text !== undefined &&
              Either.match(decodeEnvelope(text), { onLeft: () => false, onRight: ({ to }) => to === recipient })
            const theirs = text !== undefined && takes(text, recipient)
            assert.deepStrictEqual([ours, theirs], [answer.status === 202, answer.status === 202], what)
            assert.isTrue(isProven(answer, nonceOf(index)), what)
            if (theirs) taken += 1
            else {
              assert.strictEqual(answer.status, body.length > maxBodyBytes ? 413 : 400, what)
              assert.match(answer.body, /^\{"error":".{10,200}"\}$/, what)
            }
          }))
        assert.strictEqual(received.length, taken)
        assert.isAbove(taken, count / 50)
        assert.isBelow(taken, count * 0.9)
        assert.notProperty({}, "polluted")
        yield* afterwards(port)
        received.length = 0
        yield* flat(before)
        assert.isBelow(heapBytes() - heap, keptBytes)
      }))
  })
}
