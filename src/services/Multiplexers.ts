import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { PaneIdentity } from "../domain/Envelope.ts"
import type { Launched, LaunchFailed, LaunchRequest, TitleFailed } from "../domain/Launch.ts"
import type { MonitorFailed, MonitorPlaced, MonitorRequest } from "../domain/MonitorPane.ts"
import type { IdentityFailed, Pane } from "../domain/Pane.ts"
import type { CloseAnswer, VerifiedPane } from "../domain/PaneClosing.ts"
import type { MultiplexerKind, SessionId } from "../domain/Primitives.ts"

/** One terminal multiplexer, used as it is: nothing falls back to another (spec 5). */
export interface Multiplexer {
  readonly kind: MultiplexerKind
  /** Submits one command in a new tab, without a focus change. A failure may leave a tab; nothing is cleaned up. */
  readonly launch: (request: LaunchRequest) => Effect.Effect<Launched, LaunchFailed>
  /** Titles the tab that this session runs in. */
  readonly title: (name: string) => Effect.Effect<void, TitleFailed>
  /** The pane that this process runs in, as the multiplexer itself says now, and not only the environment (spec 6.3). */
  readonly identify: Effect.Effect<Pane, IdentityFailed>
  /**
   * Passes while that pane is there, holds that process of that session, and is one that this session's workspace may
   * close: the whole of spec 6.3 but the session header. Everything doubtful fails. `own` is the id of the session that
   * asks, which no adapter knows: the worker may not claim it. Answers what was verified, the only thing to be closed.
   */
  readonly verify: (identity: PaneIdentity, own: SessionId) => Effect.Effect<VerifiedPane, IdentityFailed>
  /** Whether panes can be identified and closed at all: on Linux, in Herdr and tmux (spec 6). */
  readonly canClose: boolean
  /**
   * Runs `last` and spawns the one close command for that pane, in one synchronous step (spec 6.2 step 8): nothing of
   * this process runs between. `last` must not wait. If it fails, or an interruption comes before that step, nothing was
   * started; from then on an interruption waits for the answer, which is there or cut off after 2 s (and the up to 1 s
   * that ending the program takes). Never repeated, and that the pane is gone is only proven by looking (step 9).
   * Where {@link canClose} is false, or for what no pane of this multiplexer is, it is `not_started` and `last` not run.
   */
  readonly close: <E>(pane: VerifiedPane, last: Effect.Effect<void, E>) => Effect.Effect<CloseAnswer, E>
  /** Whether a verified pane is proven gone by now (spec 6.3); everything doubtful is false. */
  readonly isGone: (pane: VerifiedPane) => Effect.Effect<boolean>
  /**
   * Makes sure that the monitor's pane of a coordinator's session is there, above the session's own (spec 5.6): keeps one
   * in this tab, and makes one when there surely is none. Everything doubtful fails and changes nothing. What was begun
   * goes on to its end whatever interrupts the caller, and is not cleaned up when it fails. One caller at a time:
   * `OwnedLock.monitor`.
   */
  readonly placeMonitor: (request: MonitorRequest) => Effect.Effect<MonitorPlaced, MonitorFailed>
}

/** The multiplexers, by the name that a team file uses. */
export class Multiplexers extends Context.Tag("pi-intercom/Multiplexers")<Multiplexers, {
  readonly of: (kind: MultiplexerKind) => Multiplexer
  /** The one that this session runs in, whatever the team's is: only its panes can be proven. None outside Herdr and tmux. */
  readonly own: Option.Option<Multiplexer>
  /**
   * Whether the pane of a `Launched.trace` is proven gone (spec 6.3); everything doubtful is false. Asks the multiplexer
   * that the trace names, whatever the team's is now.
   */
  readonly gone: (trace: string) => Effect.Effect<boolean>
  /** Where this session is: herdr inside Herdr, else tmux inside tmux, else herdr; on Windows outside Herdr none (spec 1.3). */
  readonly here: Effect.Effect<MultiplexerKind>
  /** Titles this session's tab in whatever multiplexer it is in; succeeds outside any. */
  readonly title: (name: string) => Effect.Effect<void, TitleFailed>
}>() {}
