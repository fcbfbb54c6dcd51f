import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SessionId, Timestamp } from "./Primitives.ts"

/** What a worker can report about its work (spec 2.3). `clear` takes the report back. */
export const ReportStatus = Schema.Literal("blocked", "needs_decision", "ready_for_review", "clear").annotations({
  message: () => ({ message: "must be blocked, needs_decision, ready_for_review or clear", override: true })
})
export type ReportStatus = typeof ReportStatus.Type

/** At most 2000 characters; not blank, and empty for `clear` (spec 2.3). */
export const ReportSummary = Schema.String.pipe(Schema.maxLength(2000))

/** Whether status and summary fit each other. */
export const summaryFits = (report: { readonly status: ReportStatus; readonly summary: string }): boolean =>
  report.status === "clear" ? report.summary === "" : report.summary.trim() !== ""

/** A saved report (spec 7.2). */
export const SavedReport = Schema.Struct({
  version: Schema.Literal(1),
  sessionId: SessionId,
  status: ReportStatus,
  summary: ReportSummary,
  updatedAt: Timestamp
}).pipe(Schema.filter(summaryFits))
export type SavedReport = typeof SavedReport.Type

const decodeReport = Schema.decodeOption(SavedReport)

/**
 * The report with only newline and tab left of its control characters, without bidi overrides and lone surrogates
 * (spec 7.2); none when nothing readable is left.
 */
export const cleanReport = (report: SavedReport): Option.Option<SavedReport> => {
  const summary = report.summary
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/\p{Cs}/gu, "\ufffd")
  return summary === report.summary ? Option.some(report) : decodeReport({ ...report, summary })
}

/** A report file is at most 8 KiB (spec 7.2). */
export const maxReportBytes = 8 * 1024
/** At most 256 reports may wait at the coordinator (spec 4). */
export const maxWaitingReports = 256
