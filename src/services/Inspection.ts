import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Inspected } from "../domain/Inspected.ts"

/** Looks at what a team has on this machine's disk; writes, locks and makes nothing. */
export class Inspection extends Context.Tag("pi-intercom/Inspection")<Inspection, {
  /** Looks now at the folders of `root`, a real path. Never fails: what cannot be used is what is looked for. */
  readonly look: (root: string) => Effect.Effect<Inspected>
}>() {}
