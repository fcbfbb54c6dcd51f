import { assert, describe, it } from "@effect/vitest"
import { askAgain, askForHandoff } from "../../src/domain/HandoffTexts.ts"
import { isToolName } from "../../src/domain/ToolCatalogue.ts"

const jobId = "0b9ad5a6-53a8-4d05-9d76-9e0c2a4d6f11"

describe("what a worker's model is told of a close", () => {
  for (const [name, text] of [["first", askForHandoff(jobId)], ["again", askAgain(jobId)]] as const) {
    it(`${name}: names the tool that there is and the job id, says that the turn must end, and is short`, () => {
      for (const [tool] of text.matchAll(/intercom_\w+/g)) assert.isTrue(isToolName(tool), tool)
      assert.include(text, "intercom_report_handoff")
      assert.strictEqual(text.split("\n").at(-1), `jobId: ${jobId}`)
      assert.match(text, /end\s+your turn and wait/)
      assert.isAtMost(text.length / 4, 130, "tokens")
    })
  }

  it("first: the summary is public, its session stays, and it must not exit by itself (spec 6.2, step 3)", () => {
    const text = askForHandoff(jobId)
    assert.match(text, /stop\s+taking work now/i)
    assert.match(text, /put no secret in it/)
    assert.match(text, /session stays saved and can be resumed/)
    assert.match(text, /do not exit by yourself/)
  })

  it("again: it may report again, with the same job", () => {
    assert.match(askAgain(jobId), /may call intercom_report_handoff again with the same job id/)
  })
})
