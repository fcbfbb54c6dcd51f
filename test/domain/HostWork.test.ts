import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { initial, isOccupied, step, type WorkEvent } from "../../src/domain/HostWork.ts"

const see = (...events: ReadonlyArray<WorkEvent>) => events.reduce(step, initial)
const epochs = (...events: ReadonlyArray<WorkEvent>) => see(...events).epoch

const jobText: WorkEvent = { type: "user_text", ofJob: true }
const text: WorkEvent = { type: "user_text", ofJob: false }
const jobPrepared: WorkEvent = { type: "run_prepared", ofJob: true }
const prepared: WorkEvent = { type: "run_prepared", ofJob: false }
const agentStart: WorkEvent = { type: "agent_start" }
const settled: WorkEvent = { type: "settled", restarted: false }
const compactionEnd: WorkEvent = { type: "compaction_end" }

describe("epochs (spec 6.2)", () => {
  const begins: ReadonlyArray<WorkEvent> = [
    text,
    { type: "user_bash" },
    { type: "compaction_start", manual: true },
    { type: "tree_navigation" },
    { type: "dialog_start" },
    { type: "session_start" }
  ]
  for (const event of begins) {
    it(`${event.type} begins one, idle and busy`, () => {
      assert.strictEqual(epochs(event), 1)
      assert.strictEqual(epochs(jobPrepared, agentStart, event), 1)
    })
  }

  it("an automatic compaction, the ends of things and a settlement begin none", () => {
    assert.strictEqual(
      epochs({ type: "compaction_start", manual: false }, compactionEnd, { type: "dialog_end" }, settled),
      0
    )
  })

  it("only the first agent start of a run begins one", () => {
    assert.strictEqual(epochs(prepared, agentStart, agentStart, agentStart), 1)
    assert.strictEqual(epochs(agentStart, settled, agentStart), 2)
  })

  it("the job's own run begins none, retries included; the next one does", () => {
    assert.strictEqual(epochs(jobText, jobPrepared, agentStart, jobText, agentStart, settled), 0)
    assert.strictEqual(epochs(jobText, jobPrepared, agentStart, settled, agentStart), 1)
  })

  it("what another text prepared since is not the job's run", () => {
    assert.strictEqual(epochs(jobPrepared, prepared, agentStart), 1)
  })

  it("a run that began before the settlement of the last one was told begins one", () => {
    assert.strictEqual(epochs(jobPrepared, agentStart, agentStart, { type: "settled", restarted: true }), 1)
  })

  it("a compaction and a dialog occupy until they end; a compaction without an end until the agent starts", () => {
    const compacting = see({ type: "compaction_start", manual: true })
    assert.isTrue(isOccupied(compacting))
    assert.isFalse(isOccupied(step(compacting, compactionEnd)))
    assert.isFalse(isOccupied(step(compacting, agentStart)))
    assert.isTrue(isOccupied(step(compacting, settled)))
    const asking = see({ type: "dialog_start" })
    assert.isTrue(isOccupied(asking))
    assert.isTrue(isOccupied(step(asking, agentStart)))
    assert.isFalse(isOccupied(step(asking, { type: "dialog_end" })))
    assert.isFalse(isOccupied(step(asking, { type: "session_start" })))
  })

  it("never goes down, and whatever happened the next foreign text or first start begins one", () => {
    const event = FastCheck.constantFrom<WorkEvent>(
      ...begins,
      jobText,
      jobPrepared,
      prepared,
      agentStart,
      settled,
      { type: "settled", restarted: true },
      { type: "compaction_start", manual: false },
      compactionEnd,
      { type: "dialog_end" }
    )
    FastCheck.assert(FastCheck.property(FastCheck.array(event, { maxLength: 30 }), (events) => {
      let state = initial
      for (const one of events) {
        const next = step(state, one)
        assert.isAtLeast(next.epoch, state.epoch)
        assert.isAtMost(next.epoch, state.epoch + 1)
        state = next
      }
      assert.strictEqual(step(state, text).epoch, state.epoch + 1)
      const start = [settled, prepared, agentStart].reduce(step, state)
      assert.strictEqual(start.epoch, state.epoch + 1)
    }))
  })
})
