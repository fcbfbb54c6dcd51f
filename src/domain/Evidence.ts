import type { Detail } from "./Activity.ts"
import type { ObservationRecord } from "./Observation.ts"
import type { ObservedStatus, Seen } from "./Snapshot.ts"

/** What the records of a worker say of it (spec 7.4). */

/** What one record, or several of the same instant, says; `conflicting` when they disagree. */
interface Deciding {
  readonly at: number
  readonly timestamp: string
  readonly status: Exclude<ObservedStatus, "unknown">
  readonly conflicting: boolean
}

/** The newest of what is known from some records. */
export interface Trace {
  readonly deciding?: Deciding
  /** The last named detail, as fixed text. */
  readonly named?: { readonly at: number; readonly text: string }
}

/** What no records say. */
export const noTrace: Trace = {}

const names: Readonly<Partial<Record<Detail, string>>> = {
  reading_files: "Reading files",
  editing_files: "Editing files",
  running_command: "Running command",
  using_tool: "Using a tool",
  multiple_tools: "Running multiple tools",
  thinking: "Thinking",
  responding: "Writing response",
  waiting_for_user: "Waiting for you"
}
const textOf: ReadonlyMap<unknown, string> = new Map(Object.entries(names))

const deciders: ReadonlySet<string> = new Set(["runtime.ready", "host.activity", "runtime.closed"])

const statusOf = (record: ObservationRecord): Deciding["status"] | undefined => {
  switch (record.event) {
    case "runtime.closed":
      return "closed"
    case "runtime.ready":
      return "idle"
    case "host.activity":
      if (record.busy === true && record.phase === "thinking") return "thinking"
      if (record.phase === "waiting" || record.detail === "waiting_for_user") return "waiting"
      return record.busy === true ? "working" : "idle"
    default:
      return undefined
  }
}

/** What a record says of its session; undefined for an event that says nothing of it. */
export const traceOf = (record: ObservationRecord): Trace & { readonly deciding: Deciding } | undefined => {
  const status = statusOf(record)
  if (status === undefined) return undefined
  const at = Date.parse(record.timestamp)
  const text = record.event === "host.activity" ? textOf.get(record.detail) : undefined
  return {
    deciding: { at, timestamp: record.timestamp, status, conflicting: false },
    ...(text === undefined ? {} : { named: { at, text } })
  }
}

/** Events by which a session's row is decided (spec 7.4). */
export const isDeciding = (event: string): boolean => deciders.has(event)

/**
 * When a deciding record of a writer was made that comes after its last one: two of one millisecond are told apart by
 * their times, since of equal ones nobody knows the order. A clock that was set back counts anew.
 */
export const instantAfter = (last: number, now: number): number => now > last || now < last - 1000 ? now : last + 1

const decide = (older: Deciding | undefined, newer: Deciding | undefined): Deciding | undefined => {
  if (older === undefined || newer === undefined) return newer ?? older
  if (older.at !== newer.at) return older.at > newer.at ? older : newer
  return { ...newer, conflicting: older.conflicting || newer.conflicting || older.status !== newer.status }
}

/** What two parts of one writer's log say together, `older` being the part that comes first in it. */
export const joined = (older: Trace, newer: Trace): Trace => {
  const deciding = decide(older.deciding, newer.deciding)
  const named = older.named !== undefined && newer.named !== undefined
    ? older.named.at > newer.named.at ? older.named : newer.named
    : newer.named ?? older.named
  return { ...(deciding === undefined ? {} : { deciding }), ...(named === undefined ? {} : { named }) }
}

/** What the logs of two writers of one session say together: the newer one's word, or both of the same instant. */
export const newest = (one: Trace, other: Trace): Trace => {
  if (one.deciding === undefined) return other
  if (other.deciding === undefined || one.deciding.at > other.deciding.at) return one
  return one.deciding.at < other.deciding.at ? other : joined(one, other)
}

/** Whether older records of the same writer can no longer add anything, but for one of the very same instant. */
export const isComplete = (trace: Trace): boolean => trace.deciding !== undefined && trace.named !== undefined

/** Evidence is old after 60 s (spec 7.4). */
export const staleAfterMs = 60_000

/** A worker's row at `now`, ms since the epoch (spec 7.4). */
export const seenAt = (trace: Trace, now: number): Seen => {
  const { deciding, named } = trace
  const rest = { observedAt: deciding?.timestamp, lastActivity: named?.text }
  if (deciding === undefined) return { observedStatus: "unknown", evidence: "missing", ...rest }
  if (deciding.at > now) return { observedStatus: "unknown", evidence: "clock_uncertain", ...rest }
  if (deciding.conflicting) return { observedStatus: "unknown", evidence: "conflicting", ...rest }
  return { observedStatus: deciding.status, evidence: now - deciding.at > staleAfterMs ? "stale" : "recent", ...rest }
}
