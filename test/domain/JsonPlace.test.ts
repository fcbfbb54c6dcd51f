import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { whyNotJson } from "../../src/domain/JsonPlace.ts"

/** What Node's parser says of a text; none when it is JSON. */
const complaint = (text: string): string | undefined => {
  try {
    JSON.parse(text)
    return undefined
  } catch (cause) {
    return String(cause)
  }
}

describe("why a text is not JSON", () => {
  const cases = [
    ["", "it is empty"],
    [" \n\n", "it is empty"],
    ["\uFEFF{}", "it is not valid JSON (it begins with a byte order mark; save it without one)"],
    ["{", "it is not valid JSON (it breaks off at line 1, column 2)"],
    ["{\n  \"a\": 1,\n}\n", "it is not valid JSON (line 3, column 1)"],
    ["{\n  \"a\": 1\n  \"b\": 2\n}", "it is not valid JSON (line 3, column 3)"],
    ["{\r\n  a: 1\r\n}", "it is not valid JSON (line 2, column 3)"],
    ["<<<<<<< HEAD\n{}", "it is not valid JSON (line 1, column 1)"],
    ["{}\n=======\n{}", "it is not valid JSON (line 2, column 1)"],
    ["[1, 'x']", "it is not valid JSON (line 1, column 5)"],
    ["[\"open]\n", "it is not valid JSON (line 1, column 8)"],
    ["[\"open]", "it is not valid JSON (line 1, column 2)"],
    ["[\"\\x\"]", "it is not valid JSON (line 1, column 3)"],
    ["[01]", "it is not valid JSON (line 1, column 3)"],
    ["{\"a\" 1}", "it is not valid JSON (line 1, column 6)"],
    ["// team\n{}", "it is not valid JSON (line 1, column 1)"]
  ] as const
  for (const [text, why] of cases) {
    it(JSON.stringify(text), () => {
      assert.isDefined(complaint(text))
      assert.strictEqual(whyNotJson(text), why)
    })
  }

  it("has a place exactly for what Node's parser refuses, and the same one where that says one", () => {
    const piece = FastCheck.constantFrom(..."{}[]\",:\\ \n0-1.eEtruefalsn/\u0001é")
    const junk = FastCheck.string({ unit: piece })
    const edited = FastCheck.tuple(FastCheck.json(), FastCheck.nat(), FastCheck.nat(2), junk).map(
      ([text, seed, cut, put]) => {
        const at = seed % (text.length + 1)
        return text.slice(0, at) + put + text.slice(at + cut)
      }
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.oneof(edited, junk), (text) => {
        const [why, said] = [whyNotJson(text), complaint(text)]
        assert.strictEqual(why === "it is not valid JSON", said === undefined, text)
        const [, line = "", column = ""] = /line (\d+), column (\d+)/.exec(why) ?? []
        // A number, word or string that breaks off is where it begins here, and where it breaks off for Node.
        const [, position] =
          /^SyntaxError: (?:Expected|Unexpected non-whitespace) .* at position (\d+)/s.exec(said ?? "") ?? []
        if (line === "" || position === undefined) return
        const before = text.slice(0, Number(position)).split("\n")
        assert.deepStrictEqual([line, column], [`${before.length}`, `${(before.at(-1) ?? "").length + 1}`], text)
      }),
      { numRuns: 5000 }
    )
  })

  it("is found in a large file at once, however deep", () => {
    const deep = "[".repeat(4_000_000)
    assert.strictEqual(
      whyNotJson(deep),
      "it is not valid JSON (it breaks off at line 1, column 4000001)"
    )
    assert.strictEqual(whyNotJson(`"${"x".repeat(8_000_000)}" y`), "it is not valid JSON (line 1, column 8000004)")
  })
})
