import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { EnvelopeOf } from "../../domain/Envelope.ts"
import { cleanReport, maxWaitingReports, type SavedReport } from "../../domain/Report.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { ReportStore } from "../../services/ReportStore.ts"
import { Delivery } from "../Delivery.ts"
import type { Member } from "../Membership.ts"
import { ReportQueue } from "../ReportQueue.ts"
import { notTaken, senderOf } from "./Context.ts"

const full: Refusal = {
  status: 503,
  sentence: `${maxWaitingReports} reports already wait at the coordinator; this one was not saved. Report again later`
}
const unreadable: Refusal = { status: 400, sentence: "its summary has no readable text, so it was not saved" }
const notTold: Refusal = {
  status: 400,
  sentence: "the report is saved, but the coordinator's model could not be told; do not send it again blindly"
}

/**
 * A worker's report: saved first, then told to the coordinator's model (spec 4, report_work). Once saved it is past its
 * commit point, so nothing interrupts it between the two and the answer is never 503.
 */
export const report = Effect.fn("receive.report")(
  function*(standing: Member, envelope: EnvelopeOf<"report">, commit: Commit) {
    const reports = yield* ReportStore
    const delivery = yield* Delivery
    const { turn, waiting } = yield* ReportQueue
    const { status, summary } = envelope.payload
    const updatedAt = DateTime.formatIso(yield* DateTime.now)
    const sender = senderOf(standing, envelope.from)

    const given: SavedReport = { version: 1, sessionId: envelope.from, status, summary, updatedAt }
    const cleaned = cleanReport(given)
    if (Option.isNone(cleaned)) return yield* Effect.fail(unreadable)
    const save = reports.save(standing.root, cleaned.value).pipe(
      Effect.mapError((error): Refusal => ({ status: 400, sentence: error.message }))
    )
    const text = status === "clear"
      ? "status: clear (the earlier report is taken back)"
      : `status: ${status}\n${cleaned.value.summary}`
    const tell = delivery.deliver(
      "report",
      sender,
      text,
      (act) => commit(Effect.zipRight(save, Effect.mapError(act, () => notTold)))
    )

    yield* Effect.acquireUseRelease(
      Ref.updateAndGet(waiting, (count) => count + 1),
      (count) =>
        count > maxWaitingReports
          ? Effect.fail(full)
          : turn.withPermits(1)(Effect.mapError(tell, notTaken)),
      () => Ref.update(waiting, (count) => count - 1)
    )
  }
)
