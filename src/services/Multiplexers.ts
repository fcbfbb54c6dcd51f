import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Launched, LaunchFailed, LaunchRequest, TitleFailed } from "../domain/Launch.ts"
import type { MultiplexerKind } from "../domain/Primitives.ts"

/** One terminal multiplexer, used as it is: nothing falls back to another (spec 5). */
export interface Multiplexer {
  readonly kind: MultiplexerKind
  /** Submits one command in a new tab, without a focus change. A failure may leave a tab; nothing is cleaned up. */
  readonly launch: (request: LaunchRequest) => Effect.Effect<Launched, LaunchFailed>
  /** Titles the tab that this session runs in. */
  readonly title: (name: string) => Effect.Effect<void, TitleFailed>
}

/** The multiplexers, by the name that a team file uses. */
export class Multiplexers extends Context.Tag("pi-intercom/Multiplexers")<Multiplexers, {
  readonly of: (kind: MultiplexerKind) => Multiplexer
  /** Where this session is: herdr inside Herdr, else tmux inside tmux, else herdr; on Windows outside Herdr none (spec 1.3). */
  readonly here: Effect.Effect<MultiplexerKind>
  /** Titles this session's tab in whatever multiplexer it is in; succeeds outside any. */
  readonly title: (name: string) => Effect.Effect<void, TitleFailed>
}>() {}
