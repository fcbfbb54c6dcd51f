import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Observation } from "../../src/domain/Observation.ts"
import { ObservationLog } from "../../src/services/ObservationLog.ts"

/** A log that keeps what was recorded, in order. */
export interface ObservationMemory {
  readonly recorded: ReadonlyArray<Observation>
  readonly layer: Layer.Layer<ObservationLog>
}

/** A new, empty log. */
export const makeObservationMemory = (): ObservationMemory => {
  const recorded: Array<Observation> = []
  return {
    recorded,
    layer: Layer.succeed(ObservationLog, {
      record: (observation) =>
        Effect.sync(() => {
          recorded.push(observation)
        }),
      open: () => Effect.void,
      prune: () => Effect.void,
      dropped: Effect.succeed(0)
    })
  }
}
