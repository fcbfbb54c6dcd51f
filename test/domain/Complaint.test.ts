import { assert, describe, it } from "@effect/vitest"
import { complaint } from "../../src/domain/Complaint.ts"

describe("a program's complaint", () => {
  it.each([
    ["\u001b[31mpanicked\u001b[0m at x.\nmore\n", "panicked at x"],
    ["\u001b[1;38;5;196merror\u001b[K: \u001b[?25hno", "error: no"],
    ["\u009b31mred\u009b0m", "red"],
    ["\u001b]0;a title\u0007no server", "no server"],
    ["\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\ is broken", "link is broken"],
    ["no\u001b]0;a title without an end", "no"],
    ["\u001b(B\u001b[mno", "no"],
    ["no\u0007 [31m\u001b", "no [31m"],
    ["no\u001b[", "no"],
    ["array[0] is ]; not.", "array[0] is ]; not"],
    ["", ""]
  ])("%j reads %j", (said, read) => {
    assert.strictEqual(complaint(said), read)
  })

  it("is bounded", () => {
    assert.strictEqual(complaint(`\u001b[31m${"x".repeat(1000)}`), "x".repeat(160))
  })
})
