import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** What everything of one Pi session hangs on. */
export interface Lifetime {
  /** In parallel: one slow release keeps no other from beginning. */
  readonly work: Scope.CloseableScope
  /** Closes only when all of the work has been released: what must outlive whoever could still write. */
  readonly last: Scope.CloseableScope
  /** Both, in that order. */
  readonly whole: Scope.CloseableScope
}

/** A new lifetime. */
export const open: Effect.Effect<Lifetime> = Effect.gen(function*() {
  const whole = yield* Scope.make()
  // One after another, the latest first.
  const last = yield* Scope.fork(whole, ExecutionStrategy.sequential)
  const work = yield* Scope.fork(whole, ExecutionStrategy.parallel)
  return { work, last, whole }
})

/** Releases everything, and waits at most 1 s for it (spec 3.1); what takes longer goes on to its end. */
export const close = (lifetime: Lifetime): Effect.Effect<void> =>
  Scope.close(lifetime.whole, Exit.void).pipe(
    Effect.uninterruptible,
    Effect.disconnect,
    Effect.timeoutOption("1 second"),
    Effect.asVoid
  )
