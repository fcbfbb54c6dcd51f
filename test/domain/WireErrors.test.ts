import { assert, describe, it } from "@effect/vitest"
import { OutcomeUnknown, Rejected, sentenceForStatus, Undelivered } from "../../src/domain/WireErrors.ts"

const undelivered = (["refused", "unproven", "unreachable"] as const).map((reason) => new Undelivered({ reason }))
const unknown = (["deadline", "connection", "malformed", "oversized", "unproven"] as const).map((reason) =>
  new OutcomeUnknown({ reason })
)
const rejected = [400, 401, 403, 404, 408, 413, 415, 503, 500, 418].map((status) =>
  new Rejected({ status, sentence: sentenceForStatus(status) })
)

describe("the three failures of a send", () => {
  it("each has words of its own", () => {
    for (const { message } of undelivered) assert.match(message, /^Not delivered: .*nothing was sent/)
    for (const { message } of unknown) {
      assert.match(message, /^Outcome unknown: .*may or may not have received it/)
      assert.notMatch(message, /not delivered|failed|undelivered/i)
    }
    for (const { message } of rejected) {
      assert.match(message, /^The recipient refused it: /)
      assert.notMatch(message, /delivered|unknown/i)
    }
  })

  it("none asks for another attempt, and an unknown outcome warns of one", () => {
    for (const { message } of [...undelivered, ...rejected]) assert.notMatch(message, /again|retry/i)
    for (const { message } of unknown) assert.match(message, /ask the recipient before repeating/)
  })

  it("none claims what only a proven answer can know", () => {
    for (const { sentence } of rejected) assert.notMatch(sentence, /nothing was done/)
  })

  it("every status has one sentence of ours, different from the others", () => {
    assert.strictEqual(new Set(rejected.map(({ sentence }) => sentence)).size, rejected.length)
    for (const { sentence } of rejected) assert.notInclude(sentence, "undefined")
  })
})
