import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { closeNotice } from "../../src/domain/CloseNotice.ts"
import { type CloseJob, CloseReason, type CloseState } from "../../src/domain/CloseTable.ts"
import { AgentName, Port, SessionId } from "../../src/domain/Primitives.ts"
import type { Agent } from "../../src/domain/TeamConfig.ts"

const at = "2025-11-02T10:14:00.000Z"
const job = (state: CloseState, reason?: CloseReason): CloseJob => ({
  jobId: "job-1",
  state,
  createdAt: at,
  updatedAt: at,
  deadlineAt: at,
  ...(reason === undefined ? {} : { reason })
})
const ada = (handoffOf?: string): Agent => ({
  sessionId: SessionId.make("ada-id"),
  name: AgentName.make("Ada"),
  coordinator: false,
  description: "The server.",
  port: Port.make(20_000),
  projectDirectory: ".",
  ...(handoffOf === undefined
    ? {}
    : { handoff: { version: 1, jobId: handoffOf, summary: "The private words of Ada.", updatedAt: at } as const })
})
const told: ReadonlyArray<CloseState> = ["closed", "failed", "timed_out", "interrupted", "uncertain"]
const page = readFileSync(new URL("../../docs/closing.md", import.meta.url), "utf8")

describe("the close notice", () => {
  it("says worker, job, state, reason, whether a handoff was saved, and what to do (spec 6.2)", () => {
    assert.strictEqual(
      closeNotice(ada("job-1"), job("uncertain", "close_unverified")),
      [
        "worker: Ada",
        "job: job-1",
        "state: uncertain (close_unverified: that its process and its pane are gone could not be shown)",
        "handoff of this close: saved",
        "Its pane may be closed or not, so it takes no work until that is proven or the person has run /intercom " +
        "resolve with its name. Do not ask for another close; tell the person."
      ].join("\n")
    )
    assert.match(
      closeNotice(ada(), job("closed")),
      /^state: closed\nhandoff of this close: none saved\nIts pane is cl/m
    )
  })

  it("takes the handoff of an earlier close for none of this one", () => {
    assert.include(closeNotice(ada("job-0"), job("failed", "timeout")), "handoff of this close: none saved")
  })

  it("does not call a pane closed of which only the process was proven gone", () => {
    const text = closeNotice(ada(), job("closed", "close_failed"))
    assert.notInclude(text, "pane is closed")
    assert.include(text, "Its Pi is gone; its tab may still be there.")
  })

  it("asks for another close only where the pane was surely not closed, and holds no word of the handoff", () => {
    for (const state of told) {
      for (const reason of [undefined, ...CloseReason.literals]) {
        const text = closeNotice(ada("job-1"), job(state, reason))
        assert.strictEqual(text.includes("then ask again"), !["closed", "uncertain"].includes(state), state)
        const unreached = state !== "uncertain" && reason === "delivery_failed"
        assert.strictEqual(text.includes("intercom_resume_worker"), state === "closed" || unreached, state)
        assert.notInclude(text, "The private words")
        assert.lengthOf(text.split("\n"), 5)
      }
    }
  })

  it("has the words that docs/closing.md explains", () => {
    for (const reason of CloseReason.literals) {
      const [, words = "none"] = /\(\w+: (.+)\)$/m.exec(closeNotice(ada(), job("failed", reason))) ?? []
      assert.include(page, `| \`${reason}\` | ${words}`)
    }
    for (const state of told) assert.include(page, `| \`${state}\` |`)
  })
})
