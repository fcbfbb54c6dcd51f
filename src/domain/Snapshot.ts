import type { SavedReport } from "./Report.ts"
import type { Agent } from "./TeamConfig.ts"

/** What a worker is seen to be doing (spec 7.4). Idle is never done. */
export type ObservedStatus = "unknown" | "closed" | "thinking" | "waiting" | "working" | "idle"

/** How good that is known (spec 7.4): `recent` turns `stale` after 60 s; the others say why nothing is known. */
export type Evidence = "missing" | "clock_uncertain" | "conflicting" | "recent" | "stale"

/** What could not be read (spec 7.3). */
export type SnapshotError = "config_unavailable" | "logs_unavailable" | "log_read_failed"

/** What a worker's own newest records say (spec 7.4). */
export interface Seen {
  readonly observedStatus: ObservedStatus
  readonly evidence: Evidence
  /** When the deciding record was made, ISO; undefined when there is none. */
  readonly observedAt: string | undefined
  /** The last named detail as fixed text ("Reading files"); kept after the turn settles. */
  readonly lastActivity: string | undefined
}

/** One configured worker with all that is known of it without asking it. */
export interface WorkerView {
  readonly agent: Agent
  readonly report: SavedReport | undefined
  /** Its report could not be read, so that it has none here says nothing. */
  readonly reportUnread?: boolean
  readonly seen: Seen
}

/** The one bounded view that the monitor and `intercom_worker_status` share (spec 7.3). */
export interface Snapshot {
  /** When it was taken, ms since the epoch. */
  readonly takenAt: number
  /** Every configured worker, in saved order; empty when the team file cannot be used (then `errors` says so). */
  readonly workers: ReadonlyArray<WorkerView>
  /** Something did not fit its bound. */
  readonly truncated: boolean
  readonly errors: ReadonlyArray<SnapshotError>
  /** Why the team file cannot be used: there is no such folder or no such file, or there is one that is no good. */
  readonly noTeam?: "no_folder" | "no_file" | "unusable"
}
