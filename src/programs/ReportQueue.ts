import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"

/** The coordinator's reports are taken one after another; at most 256 may wait (spec 4, report_work). */
export class ReportQueue extends Context.Tag("pi-intercom/ReportQueue")<ReportQueue, {
  readonly waiting: Ref.Ref<number>
  readonly turn: Effect.Semaphore
}>() {
  static readonly layer = Layer.effect(
    ReportQueue,
    Effect.all({ waiting: Ref.make(0), turn: Effect.makeSemaphore(1) })
  )
}
