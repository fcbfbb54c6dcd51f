import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Observation } from "../domain/Observation.ts"

/** Metadata of what happened, for people and for the monitor (spec 7.1). Recording never fails or delays anything. */
export class ObservationLog extends Context.Tag("pi-intercom/ObservationLog")<ObservationLog, {
  readonly record: (observation: Observation) => Effect.Effect<void>
}>() {}
