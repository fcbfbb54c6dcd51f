import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const inOneStep = <A, E, E2>(first: Effect.Effect<void, E>, act: Effect.Effect<A, E2>) =>
  Effect.suspend(() => {
    let waited = false
    queueMicrotask(() => {
      waited = true
    })
    return Effect.zipRight(
      first,
      Effect.suspend(() => waited ? Effect.dieMessage("the last look before a commit waited for something") : act)
    )
    // A fiber gives way to others after some thousand operations, wherever it then is.
  }).pipe(Effect.withMaxOpsBeforeYield(Number.MAX_SAFE_INTEGER))

/**
 * Runs `first` and, if it succeeds, `act`, and nothing else of this process between the beginning of one and the end of
 * the other: what `first` saw is so when `act` happens. Neither may wait: with a `first` that does, which is a bug, `act`
 * does not happen. An interruption before that step means that neither happened; after it, it interrupts `rest` and waits
 * for its end, unless the caller is uninterruptible. `rest` always begins, and is uninterruptible but for what it makes
 * interruptible.
 */
export const stepThen = <A, E, E2, B, E3>(
  first: Effect.Effect<void, E>,
  act: Effect.Effect<A, E2>,
  rest: (acted: A) => Effect.Effect<B, E3>
): Effect.Effect<B, E | E2 | E3> =>
  Effect.uninterruptibleMask((restore) =>
    inOneStep(restore(first), act).pipe(
      // No child: an interruption reaches a fiber's children, timers among them, even if itself it is uninterruptible.
      Effect.flatMap((acted) => Effect.forkDaemon(rest(acted))),
      Effect.flatMap((fiber) => Effect.onInterrupt(restore(Fiber.join(fiber)), () => Fiber.interrupt(fiber)))
    )
  )
