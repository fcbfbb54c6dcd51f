import * as Schema from "effect/Schema"
import { Summary, Timestamp, Token } from "./Primitives.ts"

/** The states of a close job and where each may go (spec 6.1). `ready` is only read from 0.6.1's files. */
export const closeTransitions = {
  requested: ["awaiting_handoff", "failed", "timed_out", "interrupted"],
  awaiting_handoff: ["awaiting_settlement", "failed", "timed_out", "interrupted"],
  awaiting_settlement: ["awaiting_settlement", "closing", "failed", "timed_out", "interrupted"],
  ready: ["uncertain", "interrupted"],
  closing: ["closed", "failed", "timed_out", "uncertain"],
  uncertain: ["closed", "failed"],
  closed: [],
  failed: [],
  timed_out: [],
  interrupted: []
} as const

/** A close job's state. */
export const CloseState = Schema.Literal(
  "requested",
  "awaiting_handoff",
  "awaiting_settlement",
  "ready",
  "closing",
  "uncertain",
  "closed",
  "failed",
  "timed_out",
  "interrupted"
).annotations({ message: () => ({ message: "is not one of the states of a close job", override: true }) })
export type CloseState = typeof CloseState.Type

/** Why a close job ended as it did; 0.6.1's list, and no others (spec 6.1). */
export const CloseReason = Schema.Literal(
  "timeout",
  "interrupted",
  "delivery_failed",
  "identity_failed",
  "save_failed",
  "worker_changed",
  "worker_busy",
  "commit_rejected",
  "close_unverified",
  "close_failed"
).annotations({ message: () => ({ message: "is not one of the reasons of a close job", override: true }) })
export type CloseReason = typeof CloseReason.Type

const closed = { parseOptions: { onExcessProperty: "error" } } as const

/** A saved handoff: the worker's public summary under the job that asked for it. Closed struct (spec 1.1). */
export const Handoff = Schema.Struct({
  version: Schema.Literal(1),
  jobId: Token,
  summary: Summary,
  updatedAt: Timestamp
}).annotations(closed)
export type Handoff = typeof Handoff.Type

/** A worker's close job as the team file has it. Closed struct (spec 1.1). */
export const CloseJob = Schema.Struct({
  jobId: Token,
  state: CloseState,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deadlineAt: Timestamp,
  reason: Schema.optionalWith(CloseReason, { exact: true })
}).annotations(closed)
export type CloseJob = typeof CloseJob.Type

const pending: ReadonlySet<CloseState> = new Set<CloseState>([
  "requested",
  "awaiting_handoff",
  "awaiting_settlement",
  "ready",
  "closing"
])

/** Whether a job in this state goes on, or would if somebody ran it. */
export const isPending = (state: CloseState): boolean => pending.has(state)

/** Whether a state is never left again (spec 6.4, invariant 6). */
export const isFinal = (state: CloseState): boolean => closeTransitions[state].length === 0

/** Whether the table lets a job go from one state to the other. */
export const mayBecome = (from: CloseState, to: CloseState): boolean =>
  closeTransitions[from].some((state) => state === to)

/** At most this many entries of a team file are pending (spec 6.1). */
export const maxPending = 16

/** A pending job stops fencing 10 s after its deadline (spec 6.1). */
export const fenceGraceMs = 10_000

/** Whether a worker carrying this job is fenced at `now` (ms since the epoch): uncertain, or pending and not overdue. */
export const fences = (job: CloseJob | undefined, now: number): boolean =>
  job !== undefined &&
  (job.state === "uncertain" || (isPending(job.state) && now <= Date.parse(job.deadlineAt) + fenceGraceMs))
