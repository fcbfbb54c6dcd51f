import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Observation } from "../domain/Observation.ts"

/**
 * Metadata of what happened, for people and for the monitor (spec 7.1), by one writer per session start. Nothing here ever
 * fails or delays what is recorded.
 */
export class ObservationLog extends Context.Tag("pi-intercom/ObservationLog")<ObservationLog, {
  /** Keeps it in memory, as of now; it is written later, or dropped and counted. */
  readonly record: (observation: Observation) => Effect.Effect<void>
  /**
   * From now on this session's records are written in the team of `root`, a real path, and first what was recorded so
   * far: a session without a team file leaves no files behind. Only the first call counts.
   */
  readonly open: (root: string) => Effect.Effect<void>
  /** Removes old logs of the team, its coordinator's job at start and each minute (spec 7.1). */
  readonly prune: (root: string) => Effect.Effect<void>
  /** How many records were dropped so far: too many waited, one was too large, or nothing could be written. */
  readonly dropped: Effect.Effect<number>
}>() {}
