import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"
import type { Ledger } from "../domain/Ledger.ts"

/** Resume attempts and close processes of a team, in its state folder; written by the coordinator only (spec 5.5). */
export class ProcessLedger extends Context.Tag("pi-intercom/ProcessLedger")<ProcessLedger, {
  /** The ledger on disk, afresh; an absent file is an empty one, any other trouble an error. */
  readonly read: (root: string) => Effect.Effect<Ledger, StateUnusable>
  /**
   * Reads, changes and replaces the file, one change at a time in this process; on disk when it returns. The same
   * reference writes nothing. Answers what is on disk afterwards.
   */
  readonly change: (root: string, change: (ledger: Ledger) => Ledger) => Effect.Effect<Ledger, StateUnusable>
}>() {}
