import { assert, describe, it } from "@effect/vitest"
import {
  CloseState,
  closeTransitions,
  fences,
  isFinal,
  isPending,
  maxPending,
  mayBecome
} from "../../src/domain/CloseTable.ts"

const deadline = Date.parse("2025-11-02T10:16:00.000Z")
const job = (state: CloseState) => ({
  jobId: "j",
  state,
  createdAt: "2025-11-02T10:14:00Z",
  updatedAt: "2025-11-02T10:14:00Z",
  deadlineAt: "2025-11-02T10:16:00.000Z"
})
const pending: ReadonlyArray<CloseState> = ["requested", "awaiting_handoff", "awaiting_settlement", "ready", "closing"]

describe("CloseTable.fences", () => {
  it("fences while pending, until 10 s after the deadline", () => {
    for (const state of pending) {
      assert.isTrue(fences(job(state), deadline - 120_000), state)
      assert.isTrue(fences(job(state), deadline + 10_000), state)
      assert.isFalse(fences(job(state), deadline + 10_001), state)
    }
  })
  it("fences while uncertain, for ever", () => {
    assert.isTrue(fences(job("uncertain"), deadline + 1e12))
  })
  it("does not fence in a final state or without a job", () => {
    for (const state of ["closed", "failed", "timed_out", "interrupted"] as const) {
      assert.isFalse(fences(job(state), deadline - 1), state)
    }
    assert.isFalse(fences(undefined, deadline))
  })
})

describe("the table of close states", () => {
  it("knows every state, leads only to known ones, and ends", () => {
    assert.sameMembers(Object.keys(closeTransitions), [...CloseState.literals])
    for (const [from, to] of Object.entries(closeTransitions)) {
      for (const state of to) assert.include(CloseState.literals, state, from)
    }
    const final = CloseState.literals.filter((state) => closeTransitions[state].length === 0)
    assert.sameMembers(final, ["closed", "failed", "timed_out", "interrupted"])
  })

  it("leads where it says, and nowhere else", () => {
    for (const from of CloseState.literals) {
      const to = CloseState.literals.filter((state) => mayBecome(from, state))
      assert.sameMembers(to, [...closeTransitions[from]], from)
    }
    // Reporting again is the only way to stay.
    assert.deepStrictEqual(CloseState.literals.filter((state) => mayBecome(state, state)), ["awaiting_settlement"])
    assert.deepStrictEqual(CloseState.literals.filter((state) => mayBecome(state, "closed")), ["closing", "uncertain"])
    assert.deepStrictEqual(CloseState.literals.filter((state) => mayBecome(state, "ready")), [])
  })

  it("tells pending, uncertain and final apart: each state is one of them, and at most 16 are pending", () => {
    for (const state of CloseState.literals) {
      assert.lengthOf([isPending(state), isFinal(state), state === "uncertain"].filter((is) => is), 1, state)
    }
    assert.deepStrictEqual(CloseState.literals.filter(isPending), [...pending])
    assert.strictEqual(maxPending, 16)
  })
})
