import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { type HostEvent, initial, isBusy, same, step } from "../domain/Activity.ts"
import { ObservationLog } from "../services/ObservationLog.ts"

/** Turns the host's events into categories and records each change once (spec 3.6). */
export class ActivityTracker extends Context.Tag("pi-intercom/ActivityTracker")<ActivityTracker, {
  readonly see: (event: HostEvent) => Effect.Effect<void>
}>() {
  static readonly layer = Layer.effect(
    ActivityTracker,
    Effect.gen(function*() {
      const log = yield* ObservationLog
      const state = yield* Ref.make(initial)
      return {
        see: Effect.fn("ActivityTracker.see")(function*(event: HostEvent) {
          const before = yield* Ref.get(state)
          const after = step(before, event)
          yield* Ref.set(state, after)
          if (event.type === "prompt_start" || event.type === "prompt_end") {
            yield* log.record({ event: "host.ui_prompt", phase: event.type === "prompt_start" ? "start" : "end" })
          }
          if (same(before.shown, after.shown)) return
          yield* log.record({ event: "host.activity", busy: isBusy(after.shown), ...after.shown })
        })
      }
    })
  )
}
