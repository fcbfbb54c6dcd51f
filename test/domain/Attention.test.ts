import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { needOf, statusLine } from "../../src/domain/Attention.ts"
import type { CloseJob } from "../../src/domain/CloseTable.ts"
import { AgentName } from "../../src/domain/Primitives.ts"
import type { ObservedStatus, Snapshot } from "../../src/domain/Snapshot.ts"
import { snapshot, worker } from "../support/SnapshotScripted.ts"

const at = "2026-01-01T00:00:00.000Z"
const uncertain: CloseJob = { jobId: "job", state: "uncertain", createdAt: at, updatedAt: at, deadlineAt: at }
const seen = (name: string, observedStatus: ObservedStatus) => worker(name, { seen: { observedStatus } })
const reported = (name: string, status: "needs_decision" | "blocked" | "ready_for_review") =>
  worker(name, { report: { status, summary: "…", updatedAt: at }, seen: { observedStatus: "working" } })
const line = (workers: Snapshot["workers"], given: Partial<Snapshot> = {}) => statusLine(snapshot(workers, 0, given))

describe("who needs the person (spec 8)", () => {
  it("is who reported so, is seen to wait, or has an uncertain close, the report first", () => {
    const waits = worker("W", {
      agent: { closeJob: uncertain },
      report: { status: "blocked", summary: "…", updatedAt: at }
    })
    assert.strictEqual(needOf(waits, "waiting"), "blocked")
    assert.strictEqual(needOf({ ...waits, report: undefined }, "waiting"), "waiting")
    assert.strictEqual(needOf({ ...waits, report: undefined }, "idle"), "uncertain")
    assert.isUndefined(needOf(reported("R", "ready_for_review"), "idle"))
    assert.isUndefined(needOf(worker("N", { agent: { closeJob: { ...uncertain, state: "closed" } } }), "unknown"))
  })
})

/** Letters of several widths, and what steers a terminal or a line. */
const unit = FastCheck.constantFrom(
  ..."aé漢👩\u0301\u001b\u009b\n\r\t\u0000\u2028\u2029\u202e\u2066\u2069\ud800".split("")
)

describe("the team in one line (issue 6)", () => {
  it("names who needs the person, the most urgent first, and counts the others by state", () => {
    assert.strictEqual(
      line([
        seen("Ada", "working"),
        seen("Ben", "idle"),
        worker("Cleo", { agent: { closeJob: uncertain } }),
        reported("Dan", "blocked"),
        seen("Eve", "working"),
        reported("Fay", "needs_decision"),
        seen("Gus", "unknown")
      ]),
      "Intercom: Fay needs decision, Dan blocked, Cleo close uncertain · 2 working, 1 idle, 1 unknown"
    )
  })

  it("does not count as working who was seen to work long ago", () => {
    const old = (name: string, observedStatus: ObservedStatus) =>
      worker(name, { seen: { observedStatus, evidence: "stale" } })
    assert.strictEqual(
      line([seen("Ada", "working"), old("Ben", "working"), old("Cleo", "thinking"), old("Dan", "idle")]),
      "Intercom: 1 working, 1 idle, 2 not seen lately"
    )
  })

  it("names three, and says how many more there are", () => {
    const five = ["A", "B", "C", "D", "E"].map((name) => seen(name, "waiting"))
    assert.strictEqual(line(five), "Intercom: A waiting, B waiting, C waiting, 2 more need you")
    assert.strictEqual(line([seen("Ada", "closed"), seen("Ben", "thinking")]), "Intercom: 1 thinking, 1 closed")
  })

  it("is nothing without workers, and never silent about what could not be read", () => {
    assert.isUndefined(line([]))
    assert.strictEqual(
      line([], { errors: ["config_unavailable"] }),
      "Intercom: the team file cannot be used, see /intercom doctor"
    )
    const partial = "Intercom: 1 unknown · partial observations"
    assert.strictEqual(line([seen("Ada", "unknown")], { errors: ["logs_unavailable"] }), partial)
    assert.strictEqual(line([seen("Ada", "unknown")], { truncated: true }), partial)
  })

  it("is one short line, whatever the names are made of", () => {
    const names = FastCheck.array(FastCheck.string({ unit, maxLength: 128 }), { maxLength: 40 })
    FastCheck.assert(
      FastCheck.property(names, (all) => {
        const named = all.map((name) => AgentName.make(name, { disableValidation: true }))
        const text = line(named.map((name) => worker("w", { agent: { name }, seen: { observedStatus: "waiting" } }))) ??
          ""
        assert.notMatch(text, /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Cs}/u)
        assert.isBelow([...text].length, 160)
      }),
      { numRuns: 30 }
    )
  })
})
