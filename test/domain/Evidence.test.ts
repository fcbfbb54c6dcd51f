import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import {
  instantAfter,
  isComplete,
  isDeciding,
  joined,
  newest,
  noTrace,
  seenAt,
  type Trace,
  traceOf
} from "../../src/domain/Evidence.ts"
import type { ObservationRecord } from "../../src/domain/Observation.ts"
import { SessionId } from "../../src/domain/Primitives.ts"

const now = Date.parse("2026-01-01T12:00:00.000Z")
const record = (
  at: number,
  rest: Pick<ObservationRecord, "event"> & Partial<ObservationRecord>
): ObservationRecord => ({
  version: 1,
  timestamp: new Date(at).toISOString(),
  writerId: "w",
  sessionId: SessionId.make("s"),
  ...rest
})
const activity = (at: number, busy: boolean, phase: string, detail: string) =>
  record(at, { event: "host.activity", busy, phase, detail })
const trace = (...records: ReadonlyArray<ObservationRecord>): Trace =>
  records.map((one) => traceOf(one) ?? noTrace).reduce(joined, noTrace)
const seen = (...records: ReadonlyArray<ObservationRecord>) => {
  const { evidence, lastActivity, observedStatus } = seenAt(trace(...records), now)
  return [observedStatus, evidence, lastActivity]
}

describe("Evidence", () => {
  it("follows the table of spec 7.4", () => {
    assert.deepStrictEqual(seen(), ["unknown", "missing", undefined])
    const sent = record(now, { event: "transport.send", kind: "message" })
    assert.deepStrictEqual(seen(sent), ["unknown", "missing", undefined])
    assert.deepStrictEqual(seen(record(now, { event: "runtime.starting" })), ["unknown", "missing", undefined])
    assert.deepStrictEqual(seen(record(now + 1, { event: "runtime.ready" })), ["unknown", "clock_uncertain", undefined])
    assert.deepStrictEqual(seen(record(now, { event: "runtime.ready" })), ["idle", "recent", undefined])
    assert.deepStrictEqual(seen(record(now - 60_000, { event: "runtime.closed" })), ["closed", "recent", undefined])
    assert.deepStrictEqual(seen(record(now - 60_001, { event: "runtime.closed" })), ["closed", "stale", undefined])
    for (
      const [busy, phase, detail, status, last] of [
        [true, "thinking", "thinking", "thinking", "Thinking"],
        [true, "waiting", "waiting_for_user", "waiting", "Waiting for you"],
        [true, "working", "processing", "working", undefined],
        [true, "responding", "responding", "working", "Writing response"],
        [true, "tool", "reading_files", "working", "Reading files"],
        [true, "tool", "editing_files", "working", "Editing files"],
        [true, "tool", "running_command", "working", "Running command"],
        [true, "tool", "using_tool", "working", "Using a tool"],
        [true, "tool", "multiple_tools", "working", "Running multiple tools"],
        [false, "idle", "settled", "idle", undefined]
      ] as const
    ) {
      assert.deepStrictEqual(seen(activity(now, busy, phase, detail)), [status, "recent", last])
      assert.deepStrictEqual(seen(activity(now - 61_000, busy, phase, detail)), [status, "stale", last])
    }
  })

  it("keeps the last named activity after the turn settles", () => {
    const turn = [
      activity(now - 3, true, "tool", "reading_files"),
      activity(now - 2, true, "tool", "editing_files"),
      activity(now - 1, true, "working", "processing"),
      activity(now, false, "idle", "settled")
    ]
    assert.deepStrictEqual(seen(...turn), ["idle", "recent", "Editing files"])
  })

  it("is conflicting when two records of one instant disagree, and only then", () => {
    const [idle, working] = [activity(now, false, "idle", "settled"), activity(now, true, "working", "processing")]
    assert.deepStrictEqual(seen(idle, working).slice(0, 2), ["unknown", "conflicting"])
    assert.deepStrictEqual(seen(working, idle).slice(0, 2), ["unknown", "conflicting"])
    assert.deepStrictEqual(seen(idle, record(now, { event: "runtime.ready" })).slice(0, 2), ["idle", "recent"])
    const earlier = activity(now - 1, true, "working", "processing")
    assert.deepStrictEqual(seen(earlier, idle).slice(0, 2), ["idle", "recent"])
    assert.deepStrictEqual(seen(activity(now - 1, false, "idle", "settled"), earlier, idle).slice(0, 2), [
      "idle",
      "recent"
    ])
  })

  it("takes the newer writer's word, with that writer's last activity", () => {
    const old = trace(activity(now - 9, true, "tool", "reading_files"), record(now - 8, { event: "runtime.closed" }))
    const fresh = trace(record(now - 1, { event: "runtime.ready" }))
    for (const both of [newest(old, fresh), newest(fresh, old)]) {
      assert.deepStrictEqual(seenAt(both, now), {
        observedStatus: "idle",
        evidence: "recent",
        observedAt: new Date(now - 1).toISOString(),
        lastActivity: undefined
      })
    }
    assert.deepStrictEqual(newest(noTrace, old), old)
    assert.deepStrictEqual(newest(old, noTrace), old)
  })

  const some = FC.array(FC.record({
    at: FC.integer({ min: 0, max: 5 }),
    what: FC.constantFrom(
      (at: number) => activity(at, true, "tool", "reading_files"),
      (at: number) => activity(at, true, "thinking", "thinking"),
      (at: number) => activity(at, false, "idle", "settled"),
      (at: number) => record(at, { event: "runtime.closed" }),
      (at: number) => record(at, { event: "transport.send" })
    )
  })).map((all) => all.map(({ at, what }) => what(now - at)))

  it("says the same of a log however it is cut into parts (property)", () => {
    FC.assert(FC.property(some, some, some, (a, b, c) => {
      const whole = trace(...a, ...b, ...c)
      assert.deepStrictEqual(joined(joined(trace(...a), trace(...b)), trace(...c)), whole)
      assert.deepStrictEqual(joined(trace(...a), joined(trace(...b), trace(...c))), whole)
    }))
  })

  it("needs nothing older once it is complete (property)", () => {
    FC.assert(FC.property(some, (all) => {
      const [sorted, at] = [
        all.toSorted((x, y) => x.timestamp < y.timestamp ? -1 : 1),
        (one: ObservationRecord) => Date.parse(one.timestamp)
      ]
      const whole = seenAt(trace(...sorted), now)
      let tail = noTrace
      for (const one of sorted.toReversed()) {
        const older = traceOf(one)
        if (older === undefined) continue
        tail = joined(older, tail)
        if (isComplete(tail) && at(one) < (tail.deciding?.at ?? 0)) break
      }
      assert.deepStrictEqual(seenAt(tail, now), whole)
    }))
  })

  it("tells the order of two deciding records by their times, and follows a clock that is set back", () => {
    assert.deepStrictEqual([isDeciding("host.activity"), isDeciding("host.ui_prompt")], [true, false])
    assert.strictEqual(instantAfter(0, now), now)
    assert.strictEqual(instantAfter(now, now), now + 1)
    assert.strictEqual(instantAfter(now, now - 1000), now + 1)
    assert.strictEqual(instantAfter(now, now - 1001), now - 1001)
  })
})
