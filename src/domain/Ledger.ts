import * as Schema from "effect/Schema"
import { IdentifiedProcess } from "./IdentifiedProcess.ts"
import { SessionId, Timestamp, Token } from "./Primitives.ts"

/** A resume that was submitted and of which nothing is proven yet (spec 5.5). */
export const Attempt = Schema.Struct({
  at: Timestamp,
  /** The launched pane's trace; absent while the launch is being submitted, or when its answer was lost. */
  pane: Schema.optionalWith(Schema.String.pipe(Schema.maxLength(1024)), { exact: true })
})
export type Attempt = typeof Attempt.Type

/** `processes.json` in the state folder (spec 5.5): open resume attempts, and the process of each close job. */
export const Ledger = Schema.Struct({
  version: Schema.Literal(1),
  attempts: Schema.Record({ key: SessionId, value: Attempt }),
  jobs: Schema.Record({ key: Token, value: IdentifiedProcess })
})
export type Ledger = typeof Ledger.Type

/** What a team without a ledger file has. */
export const emptyLedger: Ledger = { version: 1, attempts: {}, jobs: {} }
