import { assert, describe, it } from "@effect/vitest"
import { LaunchFailed } from "../../src/domain/Launch.ts"

const said = (fields: Partial<ConstructorParameters<typeof LaunchFailed>[0]>) =>
  new LaunchFailed({ reason: "failed", detail: "x", ...fields }).message

describe("what is said of a launch that failed", () => {
  const left = "Tab 7"
  const leftBehind = "Tab 7 may have been left behind; nothing was cleaned up and nothing was tried again."
  const byPerson = "the person, who has looked that its Pi does not run, runs /intercom resolve Ada."

  it("that it was not launched only where that is known", () => {
    assert.strictEqual(said({}), "The worker was not launched: x. No tab was opened.")
    assert.strictEqual(said({ left }), `The worker was not launched: x. ${leftBehind}`)
    assert.strictEqual(
      said({ published: true }),
      "The worker was not launched: x. No tab was opened. The team file was published: this session is its coordinator now."
    )
    assert.strictEqual(
      said({ reason: "unknown" }),
      "It is not known whether the worker was launched: x. A tab may have been opened; look before you create another worker."
    )
    assert.strictEqual(
      said({ reason: "unknown", left }),
      `It is not known whether the worker was launched: x. ${leftBehind}`
    )
  })

  it("of a resume what settles it, and nothing of other workers", () => {
    assert.strictEqual(
      said({ reason: "unknown", open: "Ada" }),
      "It is not known whether the worker was launched: x. A tab may have been opened. " +
        `The resume of Ada counts as open until its status arrives or ${byPerson}`
    )
    assert.strictEqual(
      said({ reason: "unknown", left, trace: "herdr s:w1 p t", open: "Ada" }),
      `It is not known whether the worker was launched: x. ${leftBehind} ` +
        `The resume of Ada counts as open until its status arrives, that pane is closed or ${byPerson}`
    )
  })
})
