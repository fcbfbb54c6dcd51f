import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/** A copy of this extension: its file or package, and how to take it out of Pi, as the end of a sentence. */
export interface Copy {
  readonly path: string
  readonly removal: string
}

/** The copies of this extension in Pi. */
export class Copies extends Context.Tag("pi-intercom/Copies")<Copies, {
  /** Those that this Pi has loaded, this one too, in the order of their commands; then those that have none. */
  readonly loaded: Effect.Effect<ReadonlyArray<Copy>>
  /** The first other one that Pi, started in `directory`, would load by its settings and folders. */
  readonly inSettings: (directory: string) => Effect.Effect<Option.Option<Copy>>
}>() {}
