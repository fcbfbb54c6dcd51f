import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import {
  decodeEnvelope,
  encodeEnvelope,
  Envelope,
  type Kind,
  maxBodyBytes,
  mayBeUnsigned
} from "../../src/domain/Envelope.ts"

const handoffKinds: ReadonlyArray<Kind> = [
  "close_prepare",
  "close_identity",
  "close_request",
  "handoff_report",
  "close_ready",
  "close_commit"
]
const empty: ReadonlyArray<Kind> = ["request_status", "reload", "stop", "close"]
const isClosed = (kind: Kind): boolean => handoffKinds.includes(kind)
const kinds: ReadonlyArray<Kind> = Envelope.members.map((member) => member.fields.kind.literals[0])

// A random match of the timestamp's pattern is hardly ever a date.
const prepare: FastCheck.Arbitrary<Envelope> = FastCheck.record({
  kind: FastCheck.constant("close_prepare" as const),
  from: Arbitrary.make(Envelope.members[0].fields.from),
  to: Arbitrary.make(Envelope.members[0].fields.to),
  version: FastCheck.constant(1 as const),
  payload: FastCheck.record({
    jobId: FastCheck.stringMatching(/^[A-Za-z0-9-]{1,128}$/),
    deadlineAt: FastCheck.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) =>
      date.toISOString()
    )
  })
})
const arbitraryOf = (kind: Kind): FastCheck.Arbitrary<Envelope> => {
  const member = Envelope.members.find((one) => one.fields.kind.literals[0] === kind)
  if (member === undefined || kind === "close_prepare") return prepare
  const made = Arbitrary.make(Schema.make<Envelope>(member.ast))
  return empty.includes(kind)
    ? made.map((envelope) => ({ ...envelope, payload: {} })).filter(Schema.is(Envelope))
    : made
}

const sentenceOf = (value: unknown): string =>
  Either.match(decodeEnvelope(JSON.stringify(value)), { onLeft: (sentence) => sentence, onRight: () => "" })

describe("Envelope", () => {
  for (const kind of kinds) {
    const arbitrary = arbitraryOf(kind)

    it(`${kind}: decode ∘ encode is the identity`, () => {
      FastCheck.assert(
        FastCheck.property(arbitrary, (envelope) => {
          assert.deepStrictEqual(decodeEnvelope(encodeEnvelope(envelope)), Either.right(envelope))
        }),
        { numRuns: 50 }
      )
    })

    it(`${kind}: an unknown key is ${isClosed(kind) ? "refused" : "ignored"} in the payload, ignored beside it`, () => {
      FastCheck.assert(
        FastCheck.property(arbitrary, (envelope) => {
          assert.deepStrictEqual(decodeEnvelope(JSON.stringify({ ...envelope, later: 1 })), Either.right(envelope))
          const more = decodeEnvelope(JSON.stringify({ ...envelope, payload: { ...envelope.payload, later: 1 } }))
          assert.strictEqual(Either.isLeft(more), isClosed(kind))
          if (Either.isRight(more) && !empty.includes(kind)) assert.deepStrictEqual(more.right, envelope)
        }),
        { numRuns: 20 }
      )
    })

    it(`${kind}: a refusal is one short sentence without the value`, () => {
      const marker = "S3CRET marker"
      FastCheck.assert(
        FastCheck.property(
          arbitrary,
          FastCheck.nat(),
          FastCheck.constantFrom<unknown>(
            marker,
            [marker],
            { [marker]: marker },
            `${marker}\u0000${"x".repeat(60_000)}`
          ),
          (envelope, at, value) => {
            const fields = Object.keys(envelope.payload)
            const field = fields[at % fields.length]
            const broken = [
              { ...envelope, kind: value },
              { ...envelope, version: value },
              { ...envelope, payload: value },
              ...(field === undefined ? [] : [{ ...envelope, payload: { ...envelope.payload, [field]: value } }]),
              { ...envelope, payload: { ...envelope.payload, [marker]: value } }
            ]
            for (const one of broken) {
              assert.notInclude(sentenceOf(one), "S3CRET")
              assert.isAtMost(sentenceOf(one).length, 300)
            }
            assert.notStrictEqual(sentenceOf(broken[0]), "")
          }
        ),
        { numRuns: 20 }
      )
    })

    it(`${kind}: a missing field is named`, () => {
      const [envelope] = FastCheck.sample(arbitrary, 1)
      for (const field of Object.keys(envelope?.payload ?? {})) {
        const payload = Object.fromEntries(Object.entries(envelope?.payload ?? {}).filter(([name]) => name !== field))
        assert.include(sentenceOf({ ...envelope, payload }), `payload.${field}`)
      }
      for (const field of ["from", "to"]) {
        const rest = Object.fromEntries(Object.entries(envelope ?? {}).filter(([name]) => name !== field))
        assert.include(sentenceOf(rest), field)
      }
    })
  }

  it("what is no envelope is refused, whatever it is", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.oneof(FastCheck.json(), FastCheck.string()), (text) => {
        assert.isTrue(Either.isLeft(decodeEnvelope(text)))
      })
    )
    for (const deep of ["[".repeat(150_000), "{\"a\":".repeat(50_000)]) {
      const closing = deep.startsWith("[") ? "]".repeat(150_000) : `1${"}".repeat(50_000)}`
      assert.deepStrictEqual(decodeEnvelope(deep + closing), Either.left("the envelope is nested too deeply"))
    }
  })

  it("messages are 1 to 48,000 characters and not blank, and all of them fit the body", () => {
    const of = (message: string) => ({ version: 1, kind: "message", from: "a", to: "b", payload: { message } })
    for (const text of ["x", "漢".repeat(48_000), "\u0001".repeat(48_000), "\ud800".repeat(48_000)]) {
      assert.strictEqual(sentenceOf(of(text)), "")
      assert.isBelow(new TextEncoder().encode(JSON.stringify(of(text))).length, maxBodyBytes)
    }
    for (const text of ["", " \n\t", "x".repeat(48_001)]) assert.include(sentenceOf(of(text)), "payload.message")
  })

  it("a report's summary fits its status", () => {
    const of = (status: string, summary: string) => ({
      version: 1,
      kind: "report",
      from: "a",
      to: "b",
      payload: { status, summary }
    })
    assert.strictEqual(sentenceOf(of("clear", "")), "")
    assert.strictEqual(sentenceOf(of("blocked", "x")), "")
    for (const [status, summary] of [["clear", "x"], ["blocked", " "], ["blocked", "x".repeat(2001)]] as const) {
      assert.include(sentenceOf(of(status, summary)), "payload")
    }
  })

  it("five kinds may be unsigned, and none that closes", () => {
    assert.deepStrictEqual(kinds.filter(mayBeUnsigned), [
      "message",
      "report",
      "registration",
      "status",
      "request_status"
    ])
  })

  it("an envelope of another version or kind is told apart", () => {
    const base = { version: 1, kind: "stop", from: "a", to: "b", payload: {} }
    assert.strictEqual(sentenceOf(base), "")
    assert.include(sentenceOf({ ...base, version: 2 }), "version")
    assert.include(sentenceOf({ ...base, kind: "later" }), "kind that this session does not know")
  })
})
