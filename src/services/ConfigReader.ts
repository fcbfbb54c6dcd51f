import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ConfigUnusable } from "../domain/ConfigErrors.ts"
import type { TeamConfig } from "../domain/TeamConfig.ts"

/** Finds and reads team files; writes nothing. */
export class ConfigReader extends Context.Tag("pi-intercom/ConfigReader")<ConfigReader, {
  /**
   * The root whose team `directory` belongs to: `PI_INTERCOM_ROOT`, else the first directory upward that has
   * `.pi-intercom/config.json`. The path is real (links resolved). None when there is none; a pinned root is answered
   * even while it has no team file yet. Fails for a root, folder or file that is not this user's, is a link or is
   * writable by everyone (spec 1.2).
   */
  readonly discover: (directory: string) => Effect.Effect<Option.Option<string>, ConfigUnusable>
  /**
   * The team file of `root`, afresh: its stat is looked at each time and a cached parse used only while that is safe
   * (spec 1.4, "Reading is cheap"). None only for a file that does not exist.
   */
  readonly read: (root: string) => Effect.Effect<Option.Option<TeamConfig>, ConfigUnusable>
}>() {}
