import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { maxResultBytes, maxResultLines, result, resultWithList } from "../../src/domain/ToolResult.ts"

const parsed = (text: string): { readonly omitted?: number; readonly items: ReadonlyArray<unknown> } => JSON.parse(text)

describe("ToolResult", () => {
  it("leaves out whole items, says how many, and stays valid and within its bounds (property)", () => {
    const item = FC.record({ name: FC.fullUnicodeString({ maxLength: 40 }), text: FC.string({ maxLength: 4000 }) })
    FC.assert(
      FC.property(FC.array(item, { maxLength: 300 }), (items) => {
        const text = resultWithList({ version: 1 }, "items", items)
        assert.isAtMost(new TextEncoder().encode(text).length, maxResultBytes)
        assert.isAtMost(text.split("\n").length, maxResultLines)
        const back = parsed(text)
        assert.strictEqual(back.items.length + (back.omitted ?? 0), items.length)
        assert.deepStrictEqual(back.items, items.slice(0, back.items.length))
      }),
      { numRuns: 50 }
    )
  })

  it("keeps everything that fits", () => {
    assert.deepStrictEqual(parsed(resultWithList({}, "items", [1, 2])), { items: [1, 2] })
    assert.strictEqual(result({ accepted: true }), "{\n  \"accepted\": true\n}")
  })
})
