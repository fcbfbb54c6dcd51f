import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  type Authorization,
  canonicalAnswer,
  canonicalRequest,
  formatAuthorization,
  parseAuthorization
} from "../../src/domain/Signature.ts"

const base64url = (length: number) => FastCheck.stringMatching(new RegExp(`^[A-Za-z0-9_-]{${length}}$`))
const authorization: FastCheck.Arbitrary<Authorization> = FastCheck.record({
  ts: FastCheck.nat({ max: 999_999_999_999_999 }),
  nonce: FastCheck.integer({ min: 16, max: 64 }).chain(base64url),
  body: base64url(43),
  mac: base64url(43)
})

describe("Signature", () => {
  it("parse ∘ format is the identity", () => {
    FastCheck.assert(FastCheck.property(authorization, (one) => {
      assert.deepStrictEqual(parseAuthorization(formatAuthorization(one)), one)
    }))
  })

  it("a header with a character more, less or other is refused, or claims something else", () => {
    FastCheck.assert(
      FastCheck.property(
        authorization,
        FastCheck.nat(),
        FastCheck.constantFrom("", " ", ",", "=", "A", "é"),
        (one, at, by) => {
          const text = formatAuthorization(one)
          const index = at % text.length
          for (
            const changed of [
              text.slice(0, index) + by + text.slice(index + 1),
              text.slice(0, index) + by + text.slice(index)
            ]
          ) {
            if (changed !== text) assert.notDeepEqual(parseAuthorization(changed), one)
          }
        }
      )
    )
  })

  it("anything but the exact form is refused", () => {
    const nonce = "n".repeat(16)
    const hash = "h".repeat(43)
    const valid = `Intercom ts=1, nonce=${nonce}, body=${hash}, mac=${hash}`
    assert.isDefined(parseAuthorization(valid))
    const others = [
      undefined,
      "",
      valid.slice(0, -1),
      `${valid}=`,
      `${valid}\n`,
      ` ${valid}`,
      valid.replace("Intercom", "Bearer"),
      valid.replace(nonce, "n".repeat(15)),
      valid.replace(nonce, "n".repeat(65)),
      valid.replace("ts=1", "ts=-1"),
      valid.replace("ts=1", "ts=1.5"),
      valid.replace("ts=1", "ts=1e3"),
      valid.replace("ts=1, ", ""),
      `${valid}, mac=${hash}`
    ]
    for (const other of others) assert.isUndefined(parseAuthorization(other), other)
  })

  it("two requests, or two answers, that differ have different canonical forms", () => {
    // No part can contain a newline: a method, a path, digits, base64url.
    const part = FastCheck.stringMatching(/^[ -~]{1,12}$/)
    const request = FastCheck.record({ method: part, path: part, ts: FastCheck.nat(), nonce: part, body: part })
    FastCheck.assert(FastCheck.property(request, request, (a, b) => {
      assert.strictEqual(canonicalRequest(a) === canonicalRequest(b), JSON.stringify(a) === JSON.stringify(b))
    }))
    const answer = FastCheck.record({ nonce: part, status: FastCheck.nat(), body: part })
    FastCheck.assert(FastCheck.property(answer, answer, (a, b) => {
      assert.strictEqual(canonicalAnswer(a) === canonicalAnswer(b), JSON.stringify(a) === JSON.stringify(b))
    }))
  })

  it("the canonical forms are those of spec 2.2", () => {
    assert.strictEqual(
      canonicalRequest({ method: "POST", path: "/intercom?a=b", ts: 7, nonce: "n", body: "h" }),
      "intercom-request-1\nPOST\n/intercom?a=b\n7\nn\nh"
    )
    assert.strictEqual(canonicalAnswer({ nonce: "n", status: 202, body: "h" }), "intercom-answer-1\nn\n202\nh")
  })
})
