import * as Effect from "effect/Effect"

/** Lets whatever else waits in this process have its turn: keys, requests, timers. */
export const nextTurn: Effect.Effect<void> = Effect.async((resume) => {
  const waiting = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(waiting))
})
