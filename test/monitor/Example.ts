import { initial, type State, withCheck, withSnapshot } from "../../monitor/State.ts"
import { AgentName, Port, SessionId } from "../../src/domain/Primitives.ts"
import type { Probe } from "../../src/domain/Probe.ts"
import type { Seen, WorkerView } from "../../src/domain/Snapshot.ts"
import type { Agent } from "../../src/domain/TeamConfig.ts"
import { snapshot, worker } from "../support/SnapshotScripted.ts"

/** A team as a person could have it, of which everything that the monitor can say is true of somebody. */

export const now = Date.parse("2026-08-01T12:00:00.000Z")
const second = 1000
const minute = 60 * second
const at = (ago: number): string => new Date(now - ago).toISOString()

const seen = (observedStatus: Seen["observedStatus"], ago: number, lastActivity?: string): Seen => ({
  observedStatus,
  evidence: ago > minute ? "stale" : "recent",
  observedAt: at(ago),
  lastActivity
})

const member = (
  n: number,
  name: string,
  description: string,
  given: Parameters<typeof worker>[1] & { readonly more?: Partial<Agent> }
): WorkerView =>
  worker("w", {
    ...given,
    agent: {
      sessionId: SessionId.make(`session-${n}`),
      name: AgentName.make(name),
      description,
      port: Port.make(20_000 + n),
      ...given.more
    }
  })

const job = { jobId: "job", createdAt: at(2 * minute), updatedAt: at(30 * second), deadlineAt: at(-minute) } as const

export const workers: ReadonlyArray<WorkerView> = [
  member(1, "Ada", "Owns the parser and its tests.", { seen: seen("working", 4 * second, "Editing files") }),
  member(2, "Ben", "Keeps the build fast.", { seen: seen("idle", 20 * second, "Writing response") }),
  member(3, "Chidi", "Reviews every change of the wire format.", {
    seen: seen("thinking", 2 * second, "Thinking"),
    report: { status: "ready_for_review", summary: "The format is done.", updatedAt: at(5 * minute) }
  }),
  member(4, "Dora", "Looks after releases.", {
    seen: seen("idle", 3 * minute, "Running command"),
    report: { status: "blocked", summary: "The registry answers 503 since noon.", updatedAt: at(4 * minute) }
  }),
  member(5, "Emil 🚀", "Writes the documentation.", {
    seen: seen("idle", 12 * second, "Reading files"),
    report: {
      status: "needs_decision",
      summary:
        "Two ways to say it:\n1. one page for each command,\n2. one page for each task. I would take the second.",
      updatedAt: at(90 * second)
    },
    more: {
      handoff: {
        version: 1,
        jobId: "earlier",
        summary: "The pages on delivery and on closing are done and read by Chidi. Open: the page on recovery, " +
          "of which docs/recovery.md has the outline, and the pictures, which are still those of the last release.",
        updatedAt: at(26 * 60 * minute)
      },
      closeJob: { ...job, state: "timed_out", reason: "worker_busy" }
    }
  }),
  member(6, "Fatima", "Measures.", { seen: seen("waiting", 8 * minute, "Waiting for you") }),
  member(7, "Gustav", "Migrates old teams.", {
    seen: seen("working", 2 * second),
    more: { closeJob: { ...job, state: "uncertain" } }
  }),
  member(8, "花子", "日本語の説明を書く。", { seen: seen("working", 30 * second, "Running multiple tools") }),
  member(9, "Ivan", "Gone since yesterday.", { seen: seen("closed", 25 * 60 * minute, "Using a tool") }),
  member(10, "Joan", "Just configured.", {}),
  member(11, "Kai", "From a machine whose clock is ahead.", {
    seen: { observedStatus: "unknown", evidence: "clock_uncertain", observedAt: at(-minute), lastActivity: undefined }
  }),
  member(12, "A worker with quite a long name", "Has a long name.", { seen: seen("idle", 50 * second) })
]

const verified: Probe = { state: "connected", reason: "verified" }
const answers: ReadonlyArray<Probe | undefined> = [
  ...Array.from({ length: 7 }, () => verified),
  { state: "connected", reason: "unproven" },
  { state: "disconnected", reason: "refused" },
  undefined,
  { state: "unknown", reason: "legacy" },
  verified
]

/** The team with all probes answered. */
export const team: State = workers.reduce((state, { agent }, n) => {
  const probe = answers[n]
  return probe === undefined ? state : withCheck(state, agent, probe, now - second)
}, withSnapshot(initial("/home/ada/project"), snapshot(workers, now), now))
