import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StateUnusable } from "../domain/ConfigErrors.ts"
import type { OwnedMonitor } from "../domain/OwnedMonitor.ts"
import type { SessionId } from "../domain/Primitives.ts"

/** What a coordinator's session knows of its monitor pane in Herdr, in the state folder of a root (spec 5.6). */
export class MonitorRecord extends Context.Tag("pi-intercom/MonitorRecord")<MonitorRecord, {
  /** The record of that session on disk, if there is one, and the file that it is or would be in. */
  readonly read: (
    root: string,
    sessionId: SessionId
  ) => Effect.Effect<{ readonly file: string; readonly record: Option.Option<OwnedMonitor> }, StateUnusable>
  /** Replaces the record of its session; on disk when it returns. What is not a record is never written over. */
  readonly write: (root: string, record: OwnedMonitor) => Effect.Effect<void, StateUnusable>
}>() {}
