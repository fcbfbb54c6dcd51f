import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** What everything of one Pi session hangs on. In parallel: one slow release keeps no other from beginning. */
export const open: Effect.Effect<Scope.CloseableScope> = Scope.make(ExecutionStrategy.parallel)

/** Releases everything, and waits at most 1 s for it (spec 3.1); what takes longer goes on to its end. */
export const close = (scope: Scope.CloseableScope): Effect.Effect<void> =>
  Scope.close(scope, Exit.void).pipe(
    Effect.uninterruptible,
    Effect.disconnect,
    Effect.timeoutOption("1 second"),
    Effect.asVoid
  )
