import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { IdentifiedProcess } from "./IdentifiedProcess.ts"
import { SessionId, Timestamp, Token } from "./Primitives.ts"

const closed = { parseOptions: { onExcessProperty: "error" } } as const

/** A resume that was submitted and of which nothing is proven yet (spec 5.5). */
export const Attempt = Schema.Struct({
  at: Timestamp,
  /** The launched pane's trace; absent while the launch is being submitted, or when its answer was lost. */
  pane: Schema.optionalWith(Schema.String.pipe(Schema.maxLength(1024)), { exact: true })
})
export type Attempt = typeof Attempt.Type

/** At most this many attempts are open at once: a whole team. */
export const maxAttempts = 256

/** `processes.json` is at most this large, for whoever writes and whoever reads it. */
export const maxLedgerBytes = 1024 * 1024

/** `processes.json` in the state folder (spec 5.5): open resume attempts, and the process of each close job. Closed. */
export const Ledger = Schema.Struct({
  version: Schema.Literal(1),
  attempts: Schema.Record({ key: SessionId, value: Attempt }).pipe(
    Schema.filter((attempts) => Record.size(attempts) <= maxAttempts || `at most ${maxAttempts} attempts`)
  ),
  jobs: Schema.Record({ key: Token, value: IdentifiedProcess })
}).annotations(closed)
export type Ledger = typeof Ledger.Type

/** What a team without a ledger file has. */
export const emptyLedger: Ledger = { version: 1, attempts: {}, jobs: {} }

/** The open attempt of a session, if there is one. A session may have any id, also one that every object inherits. */
export const attemptOf = (ledger: Ledger, sessionId: SessionId): Attempt | undefined =>
  Object.hasOwn(ledger.attempts, sessionId) ? ledger.attempts[sessionId] : undefined

/** At most this many close jobs are named: each worker's, and as many again that the team file has lost. */
export const maxJobs = 512

/** With the process that a close job is about to end; of too many the oldest are forgotten. */
export const addJob = (jobId: string, process: IdentifiedProcess) => (ledger: Ledger): Ledger => ({
  ...ledger,
  jobs: Object.fromEntries([...Object.entries(ledger.jobs), [jobId, process] as const].slice(-maxJobs))
})

/** Without these jobs; the same ledger when it has none of them. */
export const endJobs = (jobIds: ReadonlyArray<string>) => (ledger: Ledger): Ledger =>
  jobIds.some((jobId) => Object.hasOwn(ledger.jobs, jobId))
    ? { ...ledger, jobs: Record.filter(ledger.jobs, (_, jobId) => !jobIds.includes(jobId)) }
    : ledger

/** The process of a close job, if it is named. */
export const jobOf = (ledger: Ledger, jobId: string): IdentifiedProcess | undefined =>
  Object.hasOwn(ledger.jobs, jobId) ? ledger.jobs[jobId] : undefined

const without = (ledger: Ledger, sessionId: SessionId): ReadonlyArray<[string, Attempt]> =>
  Object.entries(ledger.attempts).filter(([id]) => id !== sessionId)

/**
 * With a new attempt of a session; the same ledger when it has an open one, or the most that there may be are open. The
 * id `__proto__`, which no host gives out, would be lost on the way to the disk: it is never added.
 */
export const addAttempt = (sessionId: SessionId, attempt: Attempt) => (ledger: Ledger): Ledger => {
  const others = without(ledger, sessionId)
  return attemptOf(ledger, sessionId) !== undefined || others.length >= maxAttempts || sessionId === "__proto__"
    ? ledger
    : { ...ledger, attempts: Object.fromEntries([...others, [sessionId, attempt]]) }
}

/** With the pane of the attempt that was begun at `at`; the same ledger when that one is not open any more. */
export const tracePane = (sessionId: SessionId, at: string, pane: string) => (ledger: Ledger): Ledger =>
  attemptOf(ledger, sessionId)?.at === at
    ? { ...ledger, attempts: Object.fromEntries([...without(ledger, sessionId), [sessionId, { at, pane }]]) }
    : ledger

/** Without the attempt that was begun at `at`; the same ledger when that one is not open any more. */
export const endAttempt = (sessionId: SessionId, at: string) => (ledger: Ledger): Ledger =>
  attemptOf(ledger, sessionId)?.at === at
    ? { ...ledger, attempts: Object.fromEntries(without(ledger, sessionId)) }
    : ledger
