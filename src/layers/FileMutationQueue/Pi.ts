import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"
import type { Host } from "../Host.ts"

/** For effects that need nothing but themselves. */
const runPromise = Runtime.runPromise(Runtime.defaultRuntime)

type Queue = Host["withFileMutationQueue"]

const make = (queue: Queue): FileMutationQueue["Type"] => ({
  run: (file, effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const entered = yield* Deferred.make<void>()
        const left = yield* Deferred.make<void>()
        const turn = Effect.zipRight(Deferred.succeed(entered, undefined), Deferred.await(left))
        // The host's wait cannot be cancelled, so it outlives an interrupted caller; its turn, when it comes, is then
        // over at once. A queue that fails (it resolves the path) leaves the error to the effect, which says it better.
        yield* Effect.tryPromise(() => queue(file, () => runPromise(turn))).pipe(
          Effect.catchAll(() => Deferred.succeed(entered, undefined)),
          Effect.forkDaemon
        )
        return yield* restore(Effect.zipRight(Deferred.await(entered), effect)).pipe(
          Effect.ensuring(Deferred.succeed(left, undefined))
        )
      })
    )
})

/**
 * The host's own queue. The effect runs on the caller's fiber; an interruption while waiting ends the wait of the
 * caller, and its effect never runs.
 */
export const layer = (queue: Queue): Layer.Layer<FileMutationQueue> => Layer.sync(FileMutationQueue, () => make(queue))
