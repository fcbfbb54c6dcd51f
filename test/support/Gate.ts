import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { eventuallyTrue } from "./Eventually.ts"
import * as Stranger from "./Stranger.ts"

/** Holds whoever comes, the model of this process or an extension in a Pi, until the test has looked. */
export const make = Effect.gen(function*() {
  const waiting: Array<() => void> = []
  // What comes over HTTP waits for its answer.
  const { port } = yield* Stranger.http((_, response) => void waiting.push(() => response.end("go")))
  return {
    url: `http://127.0.0.1:${port}/`,
    /** Waits until the gate is opened the next time. */
    hold: Effect.flatMap(Deferred.make<void>(), (opened) => {
      waiting.push(() => Deferred.unsafeDone(opened, Effect.void))
      return Deferred.await(opened)
    }),
    /** Waits until so many are held. */
    reached: (count: number) =>
      eventuallyTrue(
        `${count} at the gate`,
        Effect.sync(() => waiting.length === count),
        Effect.sync(() => `${waiting.length} are there`)
      ),
    /** Lets all go that are held. */
    open: Effect.sync(() => {
      for (const go of waiting.splice(0)) go()
    })
  }
})
