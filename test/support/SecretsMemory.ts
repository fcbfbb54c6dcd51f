import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHmac } from "node:crypto"
import { Secrets, type SigningKey } from "../../src/services/Secrets.ts"

/** The signing key of a secret that a test knows. */
export const keyOf = (secret: string): SigningKey => {
  const mac = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url")
  return { mac, verify: (text, given) => mac(text) === given }
}

/** Every root has a key of its own, made of its path. */
export const layer: Layer.Layer<Secrets> = Layer.succeed(Secrets, { key: (root) => Effect.succeed(keyOf(root)) })
