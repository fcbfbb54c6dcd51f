import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/** `settled`: a run truly ended. `epoch`: a new epoch began. */
export type WorkMoment = "settled" | "epoch"

/**
 * What a worker must know of its host before it lets itself be closed (spec 6.2, steps 4 to 7). Looks are synchronous, so
 * several in one commit step are of one moment; every one is safe after the session was replaced.
 */
export class HostWork extends Context.Tag("pi-intercom/HostWork")<HostWork, {
  /** The file that the host keeps the session in; it exists only after the first turn. None when it keeps none. */
  readonly file: Effect.Effect<Option.Option<string>>
  /** Whether the session's branch holds a result of this tool call, the latest of that id, that is no error. */
  readonly succeeded: (toolCallId: string) => Effect.Effect<boolean>
  /**
   * Whether a run, a compaction or a dialog of an extension is open, or the person has begun to type; true when the host
   * cannot be asked any more.
   */
  readonly busy: Effect.Effect<boolean>
  /**
   * The current epoch (spec 6.2 Epochs): only goes up. Not a text that {@link HostSession.deliver} marked as of the job,
   * nor the run that it starts. A tool call belongs to the epoch that its `execute` reads before its first wait.
   */
  readonly epoch: Effect.Effect<number>
  /**
   * What happens from now on, each told once and after the state has changed, until the scope closes. Whoever subscribes
   * takes them: they wait in memory.
   */
  readonly moments: Effect.Effect<Queue.Dequeue<WorkMoment>, never, Scope.Scope>
}>() {}
