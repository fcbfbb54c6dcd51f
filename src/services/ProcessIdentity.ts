import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { IdentifiedProcess, Liveness } from "../domain/IdentifiedProcess.ts"

/** Who this process is, and what is known of another one (spec 6.3). */
export class ProcessIdentity extends Context.Tag("pi-intercom/ProcessIdentity")<ProcessIdentity, {
  /** This process. Where procfs is missing or cannot be read: its pid only. */
  readonly own: IdentifiedProcess
  /** Looks now. Everything that proves neither is unknown; never fails. */
  readonly look: (process: IdentifiedProcess) => Effect.Effect<Liveness>
}>() {}
