import { needOf, needs } from "../src/domain/Attention.ts"
import type { Probe } from "../src/domain/Probe.ts"
import type { ReportStatus } from "../src/domain/Report.ts"
import type { ObservedStatus, Seen, WorkerView } from "../src/domain/Snapshot.ts"
import type { Agent } from "../src/domain/TeamConfig.ts"
import { widestOf } from "./Columns.ts"
import type { Tone } from "./Style.ts"
import { plain } from "./Text.ts"

/** What a probe said of a port, and when (ms since the epoch). */
export interface Check {
  readonly port: number
  readonly probe: Probe
  readonly at: number
}

/** A worker as the table shows it, now. */
export interface Row {
  readonly id: string
  readonly worker: WorkerView
  readonly name: string
  /** At most, in any terminal. */
  readonly nameWidth: number
  readonly connection: Probe
  readonly connected: string
  readonly report: string
  readonly reportTone: Tone
  /** What it is seen to do, now: `unknown` when its time cannot be. */
  readonly status: ObservedStatus
  readonly activity: string
  readonly activityTone: Tone
  readonly seen: string
  /** {@link seen} where there is no room for its detail. */
  readonly seenShort: string
  readonly seenTone: Tone
  readonly lastActivity: string
  /** Its group in the order of the table. */
  readonly rank: number
}

/** A probe's result is evidence this long (spec 2.5). */
const checkLastsMs = 30_000
/** What was seen is old after this (spec 8). */
const oldAfterMs = 60_000

/** How long ago, as `12s ago`, `3m ago`, `2h ago`, `4d ago`; undefined for the future. */
export const ago = (time: number, now: number): string | undefined => {
  const seconds = Math.floor((now - time) / 1000)
  if (now < time) return undefined
  if (seconds < 60) return `${seconds}s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`
  return `${Math.floor(seconds / 86_400)}d ago`
}

/** {@link ago} of a time that somebody wrote down. */
export const agoText = (time: string, now: number): string => ago(Date.parse(time), now) ?? "clock uncertain"

// By entry: the same objects come with every refresh of an unchanged file.
const names = new WeakMap<Agent, { readonly name: string; readonly nameWidth: number }>()
const nameOf = (agent: Agent) => {
  const known = names.get(agent)
  if (known !== undefined) return known
  const name = plain(agent.name)
  const made = { name, nameWidth: widestOf(name) }
  names.set(agent, made)
  return made
}

const connectionOf = (agent: Agent, check: Check | undefined, now: number): Probe => {
  if (check === undefined || check.port !== agent.port) return { state: "unknown", reason: "not_checked" }
  const fresh = check.at <= now && now - check.at <= checkLastsMs
  return fresh ? check.probe : { state: "unknown", reason: "stale" }
}

const reports: Readonly<Record<ReportStatus, string>> = {
  blocked: "Blocked",
  needs_decision: "Needs decision",
  ready_for_review: "Ready for review",
  clear: "—"
}

const tones: Readonly<Partial<Record<ObservedStatus, Tone>>> = {
  working: "working",
  thinking: "thinking",
  idle: "idle",
  waiting: "needsYou"
}

const seenNow = (seen: Seen, now: number) => {
  const time = seen.observedAt === undefined ? undefined : Date.parse(seen.observedAt)
  if (time === undefined && seen.evidence !== "clock_uncertain") {
    return { status: seen.observedStatus, words: "—", short: "—", old: false }
  }
  const age = time === undefined || seen.evidence === "clock_uncertain" ? undefined : ago(time, now)
  if (time === undefined || age === undefined) {
    return { status: "unknown", words: "clock uncertain", short: "clock ?", old: false } as const
  }
  const old = now - time > oldAfterMs
  return { status: seen.observedStatus, words: old ? `${age} (old)` : age, short: age, old }
}

const rankOf = (worker: WorkerView, status: ObservedStatus, connection: Probe): number => {
  const need = needOf(worker, status)
  if (need !== undefined) return needs.indexOf(need)
  return connection.state === "disconnected" ? needs.length + 1 : needs.length
}

const activityTone = (status: ObservedStatus, old: boolean): Tone =>
  old ? status === "waiting" ? "oldNeedsYou" : "old" : tones[status] ?? "none"

const rowOf = (worker: WorkerView, check: Check | undefined, now: number): Row => {
  const { agent, report, seen } = worker
  const connection = connectionOf(agent, check, now)
  const { old, short, status, words } = seenNow(seen, now)
  const uncertain = agent.closeJob?.state === "uncertain"
  const rank = rankOf(worker, status, connection)
  return {
    id: agent.sessionId,
    worker,
    ...nameOf(agent),
    connection,
    // An endpoint that does not prove itself does not count as the worker living (spec 2.5).
    connected: connection.reason === "unproven" ? "unproven" : connection.state,
    report: report === undefined ? "—" : reports[report.status],
    reportTone: rank < 2 ? "needsYou" : "none",
    status,
    activity: uncertain ? "closing?" : status,
    activityTone: uncertain ? "needsYou" : activityTone(status, old),
    seen: words,
    seenShort: short,
    seenTone: old ? "old" : "none",
    lastActivity: seen.lastActivity === undefined ? "—" : plain(seen.lastActivity),
    rank
  }
}

/**
 * The rows of the table: who needs the user first (needs decision, blocked, waiting, uncertain close), then the rest in
 * saved order, the disconnected last; within a group in saved order.
 */
export const rowsOf = (
  workers: ReadonlyArray<WorkerView>,
  checks: ReadonlyMap<string, Check>,
  now: number
): ReadonlyArray<Row> =>
  workers.map((worker) => rowOf(worker, checks.get(worker.agent.sessionId), now)).toSorted((a, b) => a.rank - b.rank)
