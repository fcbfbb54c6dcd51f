import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { widestOf, widthOf } from "../../monitor/Columns.ts"
import { cut, fill, plain, wrap } from "../../monitor/Text.ts"

describe("text of files, fit for a terminal (spec 8)", () => {
  it.each([
    ["colours and movements", "a\u001b[31;1mb\u001b[2J\u001b[?1049hc\u001b[", "abc"],
    ["links", "a\u001b]8;;https://evil.example\u0007b\u001b]8;;\u001b\\c", "abc"],
    ["the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b", "ab"],
    ["what never ends, to the end of its line", "a\u001b]0;title\nb", "a b"],
    ["C1 forms", "a\u009b31mb\u009d0;title\u009cc\u0090dcs\u009cd\u009fapc\u001b\\e", "abcde"],
    ["character sets, resets", "a\u001b(0b\u001bcd\u001b", "abd"],
    ["controls", "a\u0000\u0007\u0008\u007f\u0080b", "ab"],
    ["bidi overrides", "a\u202eb\u202dc\u2066d\u2069e\u202af\u202bg\u202ch\u2067i\u2068j", "abcdefghij"],
    ["separators", "a\r\nb\rc\u2028d\u2029e\u0085f\u000bg\u000ch\ti", "a b c d e f g h i"],
    ["halves of characters", "a\ud800b", "a\ufffdb"],
    ["nothing else", "שלום 日本 👩‍👩‍👧‍👦 e\u0301 [31m", "שלום 日本 👩‍👩‍👧‍👦 e\u0301 [31m"]
  ])("without %s", (_what, text, shown) => {
    assert.strictEqual(plain(text), shown)
  })
})

describe("columns", () => {
  it("cuts by graphemes, never in the middle of one", () => {
    assert.strictEqual(cut("日本語", 6), "日本語")
    assert.strictEqual(cut("日本語", 5), "日本…")
    assert.strictEqual(cut("日本語", 4), "日…")
    assert.strictEqual(cut("日本語", 1), "…")
    assert.strictEqual(cut("日本語", 0), "")
    // Such a family is one sign of 2 columns for some terminals and four of 8 for others: it must fit into all.
    assert.strictEqual(cut("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 9), "👩‍👩‍👧‍👦…")
    assert.strictEqual(cut("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 8), "…")
    assert.strictEqual(cut("e\u0301e\u0301e\u0301", 2), "e\u0301…")
    assert.strictEqual(fill("日", 4), "日  ")
    assert.strictEqual(fill("日本語", 4), "日… ")
    assert.strictEqual(fill("👍🏽", 5), "👍🏽   ")
  })

  it.each([
    ["a", 1, 1],
    ["日本", 4, 4],
    ["e\u0301", 1, 1],
    ["❤️", 2, 2],
    ["👍🏽", 2, 4],
    ["👩‍👩‍👧‍👦", 2, 8],
    ["🇩🇪", 2, 4],
    ["का", 2, 2],
    ["ก็", 1, 1],
    ["각", 2, 2],
    ["\u1112\u1161\u11ab", 2, 2],
    ["a\u00adb", 3, 3],
    ["", 0, 0]
  ])("%s takes %d, and %d where it takes most", (text, usual, most) => {
    assert.deepStrictEqual([widthOf(text), widestOf(text)], [usual, most])
  })

  it("wraps at blanks, breaks what is wider than a line, and keeps every word", () => {
    assert.deepStrictEqual(wrap("one two three", 7), ["one two", "three"])
    assert.deepStrictEqual(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"])
    assert.deepStrictEqual(wrap("日本語 x", 3), ["日", "本", "語", "x"])
    assert.deepStrictEqual(wrap("日x", 1), ["…", "x"])
    assert.deepStrictEqual(wrap("a\n\nb", 5), ["a", "", "b"])
    assert.deepStrictEqual(wrap("a", 0), [])
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ unit: "grapheme" }),
        // None of these graphemes is wider.
        FastCheck.integer({ min: 20, max: 40 }),
        (text, width) => {
          const lines = wrap(text, width)
          for (const line of lines) assert.isAtMost(widestOf(line), width)
          assert.strictEqual(lines.join("").replaceAll(" ", ""), plain(text).replaceAll(" ", ""))
        }
      )
    )
  })
})
