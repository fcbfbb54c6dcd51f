import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { formatTrace, type PaneTrace, parseTrace } from "../../src/domain/Pane.ts"

describe("a pane's trace", () => {
  const part = FastCheck.stringMatching(/^\S{1,12}$/)

  it("comes back whole from its line", () => {
    FastCheck.assert(
      FastCheck.property(part, part, part, FastCheck.option(part), (multiplexer, workspaceId, paneId, id) => {
        const trace: PaneTrace = { multiplexer, workspaceId, paneId, ...(id === null ? {} : { terminalId: id }) }
        assert.deepStrictEqual(parseTrace(formatTrace(trace)), trace)
      })
    )
  })

  it.each([
    "",
    "herdr",
    "herdr w1",
    " w1 p1",
    "herdr  p1",
    "herdr w1 p1 ",
    "herdr w1 p1 t1 x",
    "herdr w1 p1\n",
    "herdr\tw1 p1"
  ])(
    "%j is none",
    (line) => assert.isUndefined(parseTrace(line))
  )
})
