import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import { SessionId } from "../../src/domain/Primitives.ts"
import { cleanReport, maxReportBytes } from "../../src/domain/Report.ts"

const report = (summary: string) =>
  cleanReport({
    version: 1,
    sessionId: SessionId.make("s"),
    status: "blocked",
    summary,
    updatedAt: "2025-11-02T10:15:30Z"
  }).pipe(Option.map((cleaned) => cleaned.summary))

describe("cleanReport", () => {
  it.each([
    ["a\tb\nc", "a\tb\nc"],
    ["a\r\nb\rc", "a\nb\nc"],
    ["\u001b[31mred\u0007\u0085", "[31mred"],
    ["user\u202Egnp.exe\u2066x\u2069", "usergnp.exex"],
    ["\ud800 half", "\ufffd half"],
    ["שלום\u200f 🙂", "שלום\u200f 🙂"]
  ])("%j becomes %j", (summary, cleaned) => {
    assert.deepStrictEqual(report(summary), Option.some(cleaned))
  })
  it("is none when nothing readable is left", () => {
    assert.deepStrictEqual(report("\u0001\u202e"), Option.none())
  })
  it("fits a report file in every script", () => {
    for (const char of ["漢", "\ud800", "\"", "\n.", "🙂"]) {
      const cleaned = Option.getOrThrow(report(char.repeat(2000 / char.length)))
      assert.isBelow(Buffer.byteLength(JSON.stringify(cleaned)), maxReportBytes - 1800)
    }
  })
})
