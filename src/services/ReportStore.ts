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

/** What was read of the reports of some sessions. */
export interface ReadReports {
  readonly reports: ReadonlyMap<string, SavedReport>
  /** The sessions of which it is not known whether they have a report: the folder or their file could not be read. */
  readonly unread: ReadonlySet<string>
}

/** One file a worker under `.pi-intercom/reports` (spec 7.2). */
export class ReportStore extends Context.Tag("pi-intercom/ReportStore")<ReportStore, {
  /** Saves through a temporary and a rename; `clear` leaves a tombstone. */
  readonly save: (root: string, report: SavedReport) => Effect.Effect<void, ReportNotSaved>
  /** The reports of these sessions that are not cleared; a linked, oversized or malformed file is no report. */
  readonly read: (root: string, sessionIds: ReadonlyArray<string>) => Effect.Effect<ReadReports>
}>() {}
