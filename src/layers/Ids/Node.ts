import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomBytes, randomUUID } from "node:crypto"
import { Ids } from "../../services/Ids.ts"

/** Ids from the operating system's random source. */
export const layer: Layer.Layer<Ids> = Layer.succeed(Ids, {
  uuid: Effect.sync(() => randomUUID()),
  nonce: Effect.sync(() => randomBytes(16).toString("base64url"))
})
