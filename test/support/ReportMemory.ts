import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { cleanReport, type SavedReport } from "../../src/domain/Report.ts"
import { ReportNotSaved, ReportStore } from "../../src/services/ReportStore.ts"

const keyOf = (root: string, sessionId: string): string => JSON.stringify([root, sessionId])

/** A new store of reports in memory, shared by every session that is given the layer. */
export const makeReportMemory = (): Layer.Layer<ReportStore> => {
  const saved = new Map<string, SavedReport>()
  return Layer.succeed(ReportStore, {
    save: (root, report) =>
      Option.match(cleanReport(report), {
        onNone: () => new ReportNotSaved({ detail: "its summary has no readable text" }),
        onSome: (cleaned) =>
          Effect.sync(() => {
            saved.set(keyOf(root, cleaned.sessionId), cleaned)
          })
      }),
    read: (root, sessionIds) =>
      Effect.sync(() => {
        const reports = new Map<string, SavedReport>()
        for (const sessionId of sessionIds) {
          const report = saved.get(keyOf(root, sessionId))
          if (report !== undefined && report.status !== "clear") reports.set(sessionId, report)
        }
        return { reports, unread: new Set<string>() }
      })
  })
}
