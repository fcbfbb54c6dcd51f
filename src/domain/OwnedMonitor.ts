import * as Schema from "effect/Schema"
import { HerdrId } from "./HerdrAnswers.ts"
import { SessionId } from "./Primitives.ts"

const closed = { parseOptions: { onExcessProperty: "error" } } as const

/**
 * `monitor-<24 hex of sha256(session id)>.json` in the state folder (spec 5.6): under Herdr, which cannot say whose a
 * pane is, what a coordinator's session knows of its monitor pane. Closed.
 */
export const OwnedMonitor = Schema.Struct({
  version: Schema.Literal(1),
  sessionId: SessionId,
  /** Where the coordinator was when it was begun. */
  workspace: HerdrId,
  caller: HerdrId,
  /** The pane as `formatTrace` has it; absent until Herdr has said which it is. */
  pane: Schema.optionalWith(Schema.String.pipe(Schema.maxLength(1024)), { exact: true }),
  /** `submitted` once its program was started: only then is it kept or replaced. */
  stage: Schema.Literal("creating", "submitted")
}).annotations(closed)
export type OwnedMonitor = typeof OwnedMonitor.Type

/** A record is at most this large, for whoever writes and whoever reads it. */
export const maxOwnedMonitorBytes = 16 * 1024
