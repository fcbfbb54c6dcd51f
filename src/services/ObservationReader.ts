import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Snapshot } from "../domain/Snapshot.ts"

/** The bounded, incremental view of what is recorded of a team (spec 7.3); writes nothing. */
export class ObservationReader extends Context.Tag("pi-intercom/ObservationReader")<ObservationReader, {
  /**
   * Reads team file, reports and each worker's own newest records, as they are now. Costs only what has grown since the
   * last time. Never fails: what could not be read is named in `errors`. Interruptible every few files; a file whose
   * opening or reading would wait (a pipe, a device) is not read at all.
   */
  readonly snapshot: (root: string) => Effect.Effect<Snapshot>
}>() {}
