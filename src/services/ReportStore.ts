import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SavedReport } from "../domain/Report.ts"

/** A report that could not be saved; nothing was told to anyone. */
export class ReportNotSaved extends Data.TaggedError("ReportNotSaved")<{ readonly detail: string }> {
  override get message(): string {
    return `The report could not be saved: ${this.detail}.`
  }
}

/** One file a worker under `.pi-intercom/reports` (spec 7.2). */
export class ReportStore extends Context.Tag("pi-intercom/ReportStore")<ReportStore, {
  /** Saves through a temporary and a rename; `clear` leaves a tombstone. */
  readonly save: (root: string, report: SavedReport) => Effect.Effect<void, ReportNotSaved>
  /** The reports of these sessions that are neither cleared nor unreadable; a linked, oversized or malformed file is no report. */
  readonly read: (root: string, sessionIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, SavedReport>>
}>() {}
