import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/** What this process runs on. */
export class Surroundings extends Context.Tag("pi-intercom/Surroundings")<Surroundings, {
  /** The version of the Node that runs this, such as `22.19.0`. */
  readonly node: string
  /** The version of Pi: of the one that this runs in, else what the one on PATH says; none when none says it. */
  readonly pi: Effect.Effect<Option.Option<string>>
}>() {}
