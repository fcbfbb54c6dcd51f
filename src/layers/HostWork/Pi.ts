import type { ExtensionContext } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { isOccupied } from "../../domain/HostWork.ts"
import { HostWork, type WorkMoment } from "../../services/HostWork.ts"
import type { WorkWitness } from "../HostSession/WorkWitness.ts"

/** What is used of the context of a `session_start`. */
interface Session extends Pick<ExtensionContext, "isIdle"> {
  readonly ui: Pick<ExtensionContext["ui"], "getEditorText">
  readonly sessionManager: Pick<ExtensionContext["sessionManager"], "getSessionFile" | "getBranch">
}

/** Pi throws on every use of a context of a session that it has replaced (both hosts). */
const whileCurrent = <A>(use: () => A): Effect.Effect<Option.Option<A>> => Effect.option(Effect.try(use))

const make = (context: Session, witness: WorkWitness): HostWork["Type"] => ({
  file: Effect.map(
    whileCurrent(() => context.sessionManager.getSessionFile()),
    Option.flatMap(Option.fromNullable)
  ),
  succeeded: (toolCallId) =>
    whileCurrent(() =>
      context.sessionManager.getBranch().findLast((entry) =>
        entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolCallId === toolCallId
      )
    ).pipe(
      Effect.map(
        Option.exists((entry) =>
          entry?.type === "message" && entry.message.role === "toolResult" && !entry.message.isError
        )
      )
    ),
  busy: Effect.map(
    whileCurrent(() => context.isIdle() && context.ui.getEditorText().trim() === ""),
    (free) => !Option.contains(free, true) || isOccupied(witness.state())
  ),
  epoch: Effect.sync(() => witness.state().epoch),
  moments: Effect.gen(function*() {
    // Moments are as rare as what a person or a model does. A full sliding queue would drop the newest: its strategy is
    // not asked for what is offered in a plain call.
    const queue = yield* Effect.acquireRelease(Queue.unbounded<WorkMoment>(), Queue.shutdown)
    yield* Effect.acquireRelease(
      Effect.sync(() => witness.listen((moment) => void queue.unsafeOffer(moment))),
      (stop) => Effect.sync(stop)
    )
    return queue
  })
})

/** The work of the session of one `session_start`, by the context that Pi gave with it and what the witness saw. */
export const layer = (context: Session, witness: WorkWitness): Layer.Layer<HostWork> =>
  Layer.sync(HostWork, () => make(context, witness))
