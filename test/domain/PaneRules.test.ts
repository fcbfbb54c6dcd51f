import { assert, describe, it } from "@effect/vitest"
import type { PaneIdentity } from "../../src/domain/Envelope.ts"
import { type Closer, forbidden } from "../../src/domain/PaneRules.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import type { ProcessFacts } from "../../src/domain/ProcessFacts.ts"

const closer: Closer = {
  pane: { workspaceId: "w1", paneId: "p1", terminalId: "t1" },
  pid: 10,
  sessionId: SessionId.make("ada"),
  uid: 1000
}
const worker: PaneIdentity = {
  workspaceId: "w1",
  paneId: "p2",
  terminalId: "t2",
  sessionId: SessionId.make("ben"),
  sessionFile: "/s/ben.jsonl",
  pid: 20,
  processStart: "500"
}
const process: ProcessFacts = {
  startTicks: "500",
  state: "S",
  session: 20,
  tty: { major: 136, minor: 2 },
  uid: 1000
}

describe("what may be closed under any multiplexer", () => {
  it("another session of the same user, in another pane", () => {
    assert.isUndefined(forbidden(worker, process, closer))
    assert.isUndefined(forbidden({ ...worker, workspaceId: "w2" }, { ...process, state: "T" }, closer))
  })

  it("nothing else: each rule by itself, and all their combinations", () => {
    const broken: ReadonlyArray<readonly [string, Partial<PaneIdentity>, Partial<ProcessFacts>]> = [
      ["it is this session's own pane", { paneId: "p1" }, {}],
      ["it is this session's own pane", { terminalId: "t1" }, {}],
      ["its process is this session's own", { pid: 10 }, {}],
      ["its session is this one", { sessionId: SessionId.make("ada") }, {}],
      ["its process belongs to another user", {}, { uid: 0 }],
      ["its process has ended", { processStart: "501" }, {}],
      ["its process has ended", { processStart: "0500" }, {}],
      ["its process has ended", {}, { startTicks: "501" }],
      ["its process has ended", {}, { state: "Z" }],
      ["its process has ended", {}, { state: "X" }],
      ["its process has ended", {}, { state: "x" }]
    ]
    for (const [why, claim, fact] of broken) {
      assert.strictEqual(forbidden({ ...worker, ...claim }, { ...process, ...fact }, closer), why)
    }
    for (let set = 1; set < 1 << broken.length; set++) {
      const chosen = broken.filter((_, index) => set & 1 << index)
      const claim = Object.assign({}, worker, ...chosen.map(([, one]) => one))
      const fact = Object.assign({}, process, ...chosen.map(([, , one]) => one))
      // Two changes of the start may agree with each other again.
      const restored = claim.processStart === fact.startTicks && chosen.every(([why]) => why.endsWith("has ended")) &&
        !/[ZXx]/.test(fact.state)
      assert.strictEqual(forbidden(claim, fact, closer) === undefined, restored, String(set))
    }
  })
})
