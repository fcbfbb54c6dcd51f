import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Fresh identifiers that nobody can guess. */
export class Ids extends Context.Tag("pi-intercom/Ids")<Ids, {
  /** A random UUID (version 4). */
  readonly uuid: Effect.Effect<string>
  /** 22 characters of base64url: 128 random bits. */
  readonly nonce: Effect.Effect<string>
}>() {}
