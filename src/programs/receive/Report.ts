import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { EnvelopeOf } from "../../domain/Envelope.ts"
import { maxWaitingReports } from "../../domain/Report.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { ReportStore } from "../../services/ReportStore.ts"
import { Delivery } from "../Delivery.ts"
import type { Member } from "../Membership.ts"
import { ReportQueue } from "../ReportQueue.ts"
import { senderOf } from "./Context.ts"

const full: Refusal = {
  status: 503,
  sentence: `${maxWaitingReports} reports already wait at the coordinator; this one was not saved. Report again later`
}
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

    const save = reports.save(standing.root, { version: 1, sessionId: envelope.from, status, summary, updatedAt }).pipe(
      Effect.mapError((error): Refusal => ({ status: 400, sentence: error.message }))
    )
    const text = status === "clear"
      ? "status: clear (the earlier report is taken back)"
      : `status: ${status}\n${summary}`
    const tell = delivery.deliver("report", sender, text).pipe(Effect.mapError(() => notTold))

    yield* Effect.acquireUseRelease(
      Ref.updateAndGet(waiting, (count) => count + 1),
      (count) =>
        count > maxWaitingReports
          ? Effect.fail(full)
          : turn.withPermits(1)(commit(Effect.zipRight(save, tell))),
      () => Ref.update(waiting, (count) => count - 1)
    )
  }
)
