import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type {
  ConfigNotWritten,
  ConfigRefused,
  ConfigUnusable,
  LockNotTaken,
  StateUnusable
} from "../domain/ConfigErrors.ts"
import type { SessionId } from "../domain/Primitives.ts"
import type { SessionReplaced } from "../domain/SessionErrors.ts"
import type { Agent, TeamConfig } from "../domain/TeamConfig.ts"

/** How a first publication ended: ours is on disk, or another session's valid file was there first. */
export type Publication =
  | { readonly _tag: "Published"; readonly config: TeamConfig }
  | { readonly _tag: "Lost"; readonly config: TeamConfig }

/** A pure change: the new config, the same reference when nothing changes (nothing is written), or a refusal. */
export type Change<E> = (config: TeamConfig) => Either.Either<TeamConfig, E>

/** The five values of `intercom_configure_worker` (spec 1.5). `projectDirectory` is relative to the root, or absolute. */
export interface AgentValues {
  readonly sessionId: string
  readonly name: string
  readonly description: string
  readonly port: number
  readonly projectDirectory: string
}

/** Why an update did not happen: then the file is as it was, byte for byte. */
export type UpdateFailed = ConfigUnusable | ConfigNotWritten | LockNotTaken | StateUnusable | SessionReplaced

/** The only writer of team files. Every update enters the critical section once (spec 1.4). */
export class ConfigStore extends Context.Tag("pi-intercom/ConfigStore")<ConfigStore, {
  /**
   * First publication by an exclusive hard link; losing the race is an answer, not an error (spec 1.3). `fence` is
   * passed before anything is written and in one step with the link: a session that was replaced publishes nothing.
   */
  readonly publish: (
    root: string,
    config: TeamConfig,
    fence: Effect.Effect<void, SessionReplaced>
  ) => Effect.Effect<Publication, ConfigUnusable | ConfigNotWritten | SessionReplaced>
  /**
   * Read, check that `coordinator` coordinates, change, write a temporary, compare, rename. `coordinator` is the caller
   * itself, except that `/intercom takeover` names the one it replaces. `fence` is passed before each step and inside
   * the commit step; an interruption or failure before the rename leaves the old file byte for byte. Answers the config
   * that is on disk afterwards.
   */
  readonly update: <E>(
    root: string,
    coordinator: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: Change<E>
  ) => Effect.Effect<TeamConfig, E | UpdateFailed>
  /**
   * Appends or replaces the entry of `values.sessionId`. The directory is resolved for real: it must be the root or
   * below it, and a directory; stored root-relative. `allow` is asked with the entry that would be replaced (the close
   * fence); handoff, closeJob and unknown keys are kept. Answers the written entry, and whether it is the first worker's.
   */
  readonly configure: <E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    values: AgentValues,
    allow: (replaced: Agent | undefined) => Either.Either<void, E>
  ) => Effect.Effect<
    { readonly agent: Agent; readonly first: boolean },
    E | ConfigRefused | UpdateFailed
  >
  /** Creates `.pi-intercom/.gitignore` if it is missing (spec 1.3). A failure is logged, never fatal. */
  readonly ensureGitignore: (root: string) => Effect.Effect<void>
  /**
   * Removes what killed processes left: temporaries of processes that are proven gone, in the team's folder, its
   * reports, its state folder and the launch scripts there (spec 1.4). A failure is logged, never fatal.
   */
  readonly sweep: (root: string) => Effect.Effect<void>
}>() {}
