import { assert, describe, it } from "@effect/vitest"
import { run } from "../support/model/Run.ts"
import { closeKinds, type Schedule } from "../support/model/Schedule.ts"

const calm: Schedule = {
  seed: 1,
  multiplexer: "tmux",
  timeoutSeconds: 30,
  workers: [{ reports: "once", afterMs: 4, spoilt: false, turnMs: 0, ignoresHangup: false, saved: true }],
  events: []
}

describe("A close in which nothing goes wrong", () => {
  it("closes the pane once with one command, 5 writes, 6 messages and at most 10 calls of the multiplexer", () => {
    for (const multiplexer of ["tmux", "herdr"] as const) {
      const { tally, violation } = run({ ...calm, multiplexer })
      const sum = (keys: ReadonlyArray<string>) => keys.reduce((all, key) => all + (tally.get(key) ?? 0), 0)
      assert.isUndefined(violation)
      assert.deepStrictEqual(
        [sum(["state closed"]), sum(["commands"]), sum(["writes"]), sum(closeKinds.map((kind) => `send ${kind}`))],
        [1, 1, 5, 6]
      )
      assert.isAtMost(sum(["identify", "verify", "close", "gone"].map((of) => `mux ${of}`)), 10)
    }
  })

  it("is the same in every run", () => {
    const [one, other] = [run(calm, true), run(calm, true)]
    assert.deepStrictEqual(one, other)
  })
})
