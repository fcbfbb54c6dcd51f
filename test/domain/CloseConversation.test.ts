import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  type Conversation,
  judge,
  refusal,
  type Verdict,
  type WorkerMessage
} from "../../src/domain/CloseConversation.ts"
import { CloseReason } from "../../src/domain/CloseTable.ts"
import { SessionId } from "../../src/domain/Primitives.ts"

const head = { version: 1, from: SessionId.make("ada-id"), to: SessionId.make("coordinator-id") } as const
const jobId = "job"

const identity = (instanceId = "i1", sessionId = head.from): WorkerMessage => ({
  ...head,
  kind: "close_identity",
  payload: {
    jobId,
    instanceId,
    identity: {
      workspaceId: "w",
      paneId: "p",
      terminalId: "t",
      sessionId,
      sessionFile: "/s.jsonl",
      pid: 7,
      processStart: "1"
    }
  }
})
const report = (number: number, instanceId = "i1"): WorkerMessage => ({
  ...head,
  kind: "handoff_report",
  payload: { jobId, instanceId, report: number, summary: "x" }
})
const ready = (number: number, readyNonce = "n1", instanceId = "i1"): WorkerMessage => ({
  ...head,
  kind: "close_ready",
  payload: { jobId, instanceId, report: number, readyNonce }
})

const start: Conversation = { _tag: "Requested" }
const after = (state: Conversation, verdict: Verdict): Conversation => verdict._tag === "Accept" ? verdict.next : state
/** The verdicts on some messages, one after the other. */
const verdicts = (messages: ReadonlyArray<WorkerMessage>): ReadonlyArray<string> => {
  let state: Conversation = start
  return messages.map((message) => {
    const verdict = judge(state, message)
    state = after(state, verdict)
    return verdict._tag === "Refuse" ? `${verdict.refused.code}` : verdict._tag
  })
}

const instance = FastCheck.constantFrom("i1", "i2")
const number = FastCheck.integer({ min: 1, max: 3 })
const message = FastCheck.oneof(
  FastCheck.tuple(instance, FastCheck.constantFrom(head.from, SessionId.make("ben-id"))).map((args) =>
    identity(...args)
  ),
  FastCheck.tuple(number, instance).map((args) => report(...args)),
  FastCheck.tuple(number, FastCheck.constantFrom("n1", "n2"), instance).map((args) => ready(...args))
)
const order = ["Requested", "Identified", "Reported", "Ready"] as const

describe("what a job takes of its worker", () => {
  it("is identity, handoff, ready", () => {
    assert.deepStrictEqual(verdicts([identity(), report(1), ready(1)]), ["Accept", "Accept", "Accept"])
  })

  it("is again accepted, without effect, when it is repeated", () => {
    assert.deepStrictEqual(
      verdicts([identity(), identity(), report(1), identity(), report(1), ready(1), ready(1), report(1), identity()]),
      ["Accept", "Repeat", "Accept", "Repeat", "Repeat", "Accept", "Repeat", "Repeat", "Repeat"]
    )
  })

  it("is a later handoff, and then only the ready that names it; never an older one", () => {
    assert.deepStrictEqual(
      verdicts([identity(), report(1), report(3), report(2), report(1), ready(1), ready(2), ready(4), ready(3)]),
      [
        ...["Accept", "Accept", "Accept"],
        ...["commit_rejected", "commit_rejected", "commit_rejected", "commit_rejected", "commit_rejected"],
        "Accept"
      ]
    )
  })

  it("is one nonce, and no handoff any more after it", () => {
    assert.deepStrictEqual(
      verdicts([identity(), report(1), ready(1, "n1"), ready(1, "n2"), report(2), ready(2, "n1"), ready(1, "n1")]),
      ["Accept", "Accept", "Accept", "commit_rejected", "commit_rejected", "commit_rejected", "Repeat"]
    )
  })

  it("is nothing before its identity, and nothing of another session start", () => {
    assert.deepStrictEqual(verdicts([report(1), ready(1), identity()]), ["worker_changed", "worker_changed", "Accept"])
    assert.deepStrictEqual(
      verdicts([identity("i1"), identity("i2"), report(1, "i2"), report(1), ready(1, "n1", "i2")]),
      ["Accept", "worker_changed", "worker_changed", "Accept", "worker_changed"]
    )
    assert.deepStrictEqual(verdicts([identity(), ready(1)]), ["Accept", "commit_rejected"])
  })

  it("is no identity of another session than the sender's, which can still say its own", () => {
    assert.deepStrictEqual(verdicts([identity("i1", SessionId.make("ben-id")), identity()]), [
      "identity_failed",
      "Accept"
    ])
  })

  it("holds for any messages in any order, doubled or lost", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(message, { maxLength: 30 }), (messages) => {
      let state: Conversation = start
      const nonces = new Set<string>()
      const accepted: Array<WorkerMessage> = []
      for (const one of messages) {
        const verdict = judge(state, one)
        const next = after(state, verdict)
        const [before, now] = [order.indexOf(state._tag), order.indexOf(next._tag)]
        assert.isTrue(now === before || now === before + 1, "one step at a time, never back")
        if (verdict._tag === "Accept") {
          accepted.push(one)
          assert.notDeepEqual(next, state, "what is accepted has an effect")
          // As a repeat it has none.
          assert.strictEqual(judge(next, one)._tag, "Repeat")
        }
        if (verdict._tag === "Repeat") assert.isTrue(accepted.some(({ kind }) => kind === one.kind))
        if (verdict._tag === "Refuse") assert.isTrue(CloseReason.literals.some((code) => code === verdict.refused.code))
        if (state._tag === "Reported" && next._tag === "Reported") assert.isAtLeast(next.report, state.report)
        if (state._tag === "Ready") assert.strictEqual(next, state, "nothing changes what was announced")
        if (next._tag === "Ready") nonces.add(next.readyNonce)
        if (state._tag !== "Requested" && next._tag !== "Requested") {
          assert.strictEqual(next.instanceId, state.instanceId)
        }
        state = next
      }
      assert.isAtMost(nonces.size, 1)
    }))
  })

  it("is refused with a sentence that says that nothing was done, and a close reason for the wire", () => {
    const { code, message: sentence } = refusal("timeout", "this close has ended")
    assert.strictEqual(code, "timeout")
    assert.strictEqual(sentence, "this close has ended; nothing was done")
  })
})
