import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"

/** What a sender is told; `cut` when the truth is not known in time. */
export type Decision =
  | { readonly _tag: "Accepted" }
  | { readonly _tag: "Refused"; readonly refusal: Refusal }
  | { readonly _tag: "Cut" }

const tooLate: Refusal = { status: 503, sentence: "it could not decide in time, and nothing was done" }

/**
 * Runs a receiver for at most `decideMs`. Until it commits it can be taken back, and 503 says that the effect never
 * happens; from then on its own end is the answer, waited for another `truthMs` at most (spec 2.1, decide in time).
 */
export const decide = (
  receive: (commit: Commit) => Effect.Effect<void, Refusal>,
  limits: { readonly decideMs: number; readonly truthMs: number }
): Effect.Effect<Decision> =>
  Effect.gen(function*() {
    const effect: { state: "open" | "committed" | "withdrawn" } = { state: "open" }
    const begin = Effect.suspend(() => {
      if (effect.state === "withdrawn") return Effect.fail(tooLate)
      effect.state = "committed"
      return Effect.void
    })
    const commit: Commit = (step) => Effect.uninterruptible(Effect.zipRight(begin, step))
    const decisionOf = (exit: Exit.Exit<void, Refusal>): Effect.Effect<Decision> => {
      if (Exit.isSuccess(exit)) return Effect.succeed({ _tag: "Accepted" })
      const failure = Cause.failureOption(exit.cause)
      if (Option.isSome(failure)) return Effect.succeed({ _tag: "Refused", refusal: failure.value })
      const told: Decision = effect.state === "committed" ? { _tag: "Cut" } : { _tag: "Refused", refusal: tooLate }
      return Cause.isInterruptedOnly(exit.cause)
        ? Effect.succeed(told)
        : Effect.as(Effect.logError("a receiver died", exit.cause), told)
    }
    const told = yield* Deferred.make<Decision>()
    const fiber = yield* Effect.fork(Effect.suspend(() => receive(commit)))
    fiber.addObserver((exit) => Deferred.unsafeDone(told, decisionOf(exit)))
    // A child of this fiber: it ends with it. Two `Effect.timeout`s would cost as much as the rest of the request.
    yield* Effect.sleep(limits.decideMs).pipe(
      Effect.zipRight(Effect.suspend(() => {
        if (effect.state !== "open") return Effect.void
        effect.state = "withdrawn"
        return Fiber.interruptFork(fiber)
      })),
      Effect.zipRight(Effect.sleep(limits.truthMs)),
      Effect.zipRight(Deferred.succeed(told, { _tag: "Cut" })),
      Effect.fork
    )
    return yield* Deferred.await(told)
  })
