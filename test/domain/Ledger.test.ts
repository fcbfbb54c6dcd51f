import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { addAttempt, addJob, emptyLedger, endJobs, jobOf, Ledger } from "../../src/domain/Ledger.ts"
import { SessionId } from "../../src/domain/Primitives.ts"

const here = { bootId: "b", machineId: "m", pidNamespace: "pid:[1]" }
const process = (pid: number) => ({ ...here, pid, startTicks: `${pid}00` })
/** Ids that a job may have and every object inherits, too. */
const jobId = FastCheck.oneof(
  FastCheck.constantFrom("constructor", "toString", "valueOf"),
  FastCheck.stringMatching(/^[A-Za-z0-9-]{1,4}$/)
)

describe("the ledger's jobs", () => {
  it("are none at first, not even those that every object inherits", () => {
    for (const id of ["job", "constructor", "toString", "__proto__"]) {
      assert.isUndefined(jobOf(emptyLedger, id))
      assert.strictEqual(endJobs([id])(emptyLedger), emptyLedger)
    }
  })

  it("are found with the process they were named with until they end, through the file, and touch no attempt", () => {
    const attempts = addAttempt(SessionId.make("a"), { at: "2025-11-02T10:14:00Z" })(emptyLedger)
    const action = FastCheck.oneof(
      FastCheck.tuple(jobId, FastCheck.integer({ min: 1, max: 99 })).map(([id, pid]) => ({ id, pid })),
      FastCheck.array(jobId, { maxLength: 3 }).map((ids) => ({ ids }))
    )
    const text = Schema.parseJson(Ledger)
    FastCheck.assert(FastCheck.property(FastCheck.array(action, { maxLength: 20 }), (actions) => {
      const expected = new Map<string, number>()
      let ledger = attempts
      for (const one of actions) {
        if ("id" in one) {
          expected.set(one.id, one.pid)
          ledger = addJob(one.id, process(one.pid))(ledger)
        } else {
          const known = one.ids.filter((id) => expected.delete(id))
          const next = endJobs(one.ids)(ledger)
          assert.strictEqual(next === ledger, known.length === 0, "the same ledger when it has none of them")
          ledger = next
        }
        assert.deepStrictEqual(Schema.decodeSync(text)(Schema.encodeSync(text)(ledger)), ledger)
      }
      assert.sameMembers(Object.keys(ledger.jobs), [...expected.keys()])
      for (const [id, pid] of expected) assert.deepStrictEqual(jobOf(ledger, id), process(pid))
      assert.deepStrictEqual(ledger.attempts, attempts.attempts)
    }))
  })
})
