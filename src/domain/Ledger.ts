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

const same = (one: Attempt | undefined, other: Attempt | undefined): boolean =>
  one?.at === other?.at && one?.pane === other?.pane

/** Puts `next` (none: nothing) in the place of the attempt `expected`; the same ledger when another one is there. */
export const replaceAttempt =
  (sessionId: SessionId, expected: Attempt | undefined, next: Attempt | undefined) => (ledger: Ledger): Ledger => {
    if (!same(attemptOf(ledger, sessionId), expected)) return ledger
    const others = Object.entries(ledger.attempts).filter(([id]) => id !== sessionId)
    return { ...ledger, attempts: Object.fromEntries(next === undefined ? others : [...others, [sessionId, next]]) }
  }
