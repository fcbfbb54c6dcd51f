import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ObservationLog } from "../../services/ObservationLog.ts"

/** Records nothing. */
export const layer: Layer.Layer<ObservationLog> = Layer.succeed(ObservationLog, { record: () => Effect.void })
