import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

/** How an effect that the host asked for ended: its value, or one sentence for a model or a person. */
export type Outcome<A> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "Failed"; readonly sentence: string }

/** The one way by which Pi's callbacks run effects: on the session's runtime, owned by its scope. */
export interface Bridge<R> {
  /** Runs to the end. `signal` (Pi's) and the closing of the session interrupt it. Never rejects. */
  readonly run: <A>(effect: Effect.Effect<A, Error, R>, signal?: AbortSignal) => Promise<Outcome<A>>
  /** Starts it at once and returns at its first wait: for events whose effect must be there before the next one. */
  readonly now: (effect: Effect.Effect<unknown, never, R>) => void
}

const interrupted =
  "It was cancelled, or this Pi session is closing. What it had already sent or written stays; look before you repeat it."
const defect =
  "Intercom failed in a way it should not (a bug of the extension). What it had already done is unknown; look before you repeat it."

/** The one sentence of a failure, without stack or private detail. */
export const sentenceOf = (cause: Cause.Cause<Error>): string => {
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure)) return failure.value.message
  return Cause.isInterruptedOnly(cause) ? interrupted : defect
}

const aborted = (signal: AbortSignal) =>
  Effect.async<never>((resume) => {
    const stop = () => resume(Effect.interrupt)
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", stop))
  })

/** The bridge of one session. `present` is applied to every sentence of a failure. */
export const make = <R>(present: (text: string) => string): Effect.Effect<Bridge<R>, never, R | Scope.Scope> =>
  Effect.gen(function*() {
    const fibers = yield* FiberSet.make<unknown, never>()
    const start = yield* FiberSet.runtime(fibers)<R>()
    const startPromise = yield* FiberSet.runtimePromise(fibers)<R>()
    return {
      run: (effect, signal) =>
        startPromise(
          Effect.exit(signal === undefined ? effect : Effect.raceFirst(effect, aborted(signal))).pipe(
            Effect.map((exit) =>
              Exit.isSuccess(exit)
                ? { _tag: "Done" as const, value: exit.value }
                : { _tag: "Failed" as const, sentence: present(sentenceOf(exit.cause)) }
            )
          )
        ).catch(() => ({ _tag: "Failed" as const, sentence: interrupted })),
      now: (effect) => {
        start(effect)
      }
    }
  })
