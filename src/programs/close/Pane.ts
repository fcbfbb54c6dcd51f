import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Move } from "../../domain/CloseChanges.ts"
import type { PaneIdentity } from "../../domain/Envelope.ts"
import { IdentityFailed } from "../../domain/Pane.ts"
import type { CloseAnswer, VerifiedPane } from "../../domain/PaneClosing.ts"
import { isAlive } from "../../domain/ProcessFacts.ts"
import type { SessionReplaced } from "../../domain/SessionErrors.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import type { Deadline } from "./Deadline.ts"

/** The deadline had passed in the step of the spawn: no command was issued. */
class TooLate extends Data.TaggedError("TooLate")<{}> {}

const lookEvery = Schedule.spaced("50 millis")
/** The command's answer is waited for this long, so that the pane can still be looked for within {@link watchFor}. */
const answerWithin = "2 seconds"
const watchFor = "2500 millis"

/** The one close command of a job, and what is seen of it (spec 6.2, steps 8 and 9); no deadline interrupts it. */
export interface Closing {
  readonly deadline: Deadline
  readonly fence: Effect.Effect<void, SessionReplaced>
  readonly multiplexer: Multiplexer
  /** As it was verified last. */
  readonly pane: VerifiedPane
  readonly identity: PaneIdentity
}

/** Gives the one command and watches what becomes of process and pane. Answers what the job comes to. */
export const closePane = Effect.fn("close.pane")(
  function*({ deadline, fence, identity, multiplexer, pane }: Closing) {
    const processes = yield* ProcessIdentity
    const scope = yield* SessionScope
    const process = { ...processes.own, pid: identity.pid, startTicks: identity.processStart }
    const spawned = yield* Deferred.make<void>()
    const answer = yield* Deferred.make<CloseAnswer, SessionReplaced | TooLate | IdentityFailed>()

    /** In one step with the spawn: fence, deadline, pid, start ticks. */
    const last = Effect.gen(function*() {
      yield* fence
      if (yield* deadline.passed) return yield* new TooLate()
      const facts = yield* processes.facts(identity.pid)
      if (facts.startTicks !== identity.processStart || !isAlive(facts)) {
        return yield* new IdentityFailed({ detail: "its process has ended" })
      }
      yield* Deferred.succeed(spawned, undefined)
    })

    const watch = Effect.gen(function*() {
      const cut = yield* Effect.fork(Effect.sleep(answerWithin))
      yield* processes.look(process).pipe(Effect.repeat({ until: (seen) => seen === "gone", schedule: lookEvery }))
      // Once, and not before the command has done what it does: each look is a call of the multiplexer.
      yield* Effect.raceFirst(Effect.exit(Deferred.await(answer)), Fiber.await(cut))
      // Whatever it takes to end a program that hangs: it is not waited for.
      return yield* Effect.disconnect(multiplexer.isGone(pane))
    }).pipe(Effect.timeoutTo({ duration: watchFor, onSuccess: (gone) => gone, onTimeout: () => false }))

    /** Ends the watch early: it is known that nothing was closed. */
    const nothingClosed = Effect.exit(Deferred.await(answer)).pipe(
      Effect.flatMap((exit) =>
        Exit.isFailure(exit) || exit.value === "mismatch" || exit.value === "not_started"
          ? Effect.succeed(false)
          : Effect.never
      )
    )

    yield* scope.fork(Effect.intoDeferred(multiplexer.close(pane, last), answer))
    const gone = yield* Effect.raceFirst(Effect.zipRight(Deferred.await(spawned), watch), nothingClosed)
    const known = yield* Deferred.poll(answer)
    return yield* Option.getOrElse(known, () => Effect.succeed<CloseAnswer>("unknown")).pipe(
      Effect.map((given): Move | "left" => {
        if (given === "mismatch") return { state: "failed", reason: "identity_failed" }
        if (given === "not_started") return { state: "failed", reason: "close_failed" }
        if (gone) return { state: "closed" }
        return { state: "uncertain", reason: given === "unknown" ? "close_failed" : "close_unverified" }
      }),
      Effect.catchTags({
        SessionReplaced: () => Effect.succeed<Move | "left">("left"),
        TooLate: () => Effect.succeed<Move | "left">({ state: "timed_out", reason: "timeout" }),
        IdentityFailed: () => Effect.succeed<Move | "left">({ state: "failed", reason: "identity_failed" })
      })
    )
  }
)
