import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"

/** Signs and checks with the secret of a team; the secret itself never leaves the adapter (spec 2.2). */
export interface SigningKey {
  /** base64url of HMAC-SHA-256 over the text. */
  readonly mac: (text: string) => string
  /** Whether `mac` is the text's, compared in constant time. */
  readonly verify: (text: string, mac: string) => boolean
}

/** The secret of this machine, user and project: 32 random bytes, published by whoever needs it first. */
export class Secrets extends Context.Tag("pi-intercom/Secrets")<Secrets, {
  /** The key of a root's team; made when missing. Any other length than 32 bytes is an error. Cached once read. */
  readonly key: (root: string) => Effect.Effect<SigningKey, StateUnusable>
}>() {}
