import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { promisify } from "node:util"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"
import type { Host } from "../Host.ts"

/** A promise of the end of a turn. */
const promised = promisify((turn: (ended: () => void) => void, ended: (failed: null) => void) =>
  turn(() => ended(null))
)

type Queue = Host["withFileMutationQueue"]

/**
 * One wait for a turn. The host's wait cannot be cancelled, so it outlives a caller that has left; its turn, when it
 * comes, is then over at once. A queue that fails (it resolves the path) leaves the error to what the turn was for.
 */
const waiting = (queue: Queue, file: string) => {
  let left = false
  let end = () => {
    left = true
  }
  const entered = Effect.async<void>((resume) => {
    const turn = (ended: () => void): void => {
      if (left) return ended()
      end = ended
      resume(Effect.void)
    }
    queue(file, () => promised(turn)).catch(() => resume(Effect.void))
  })
  return { entered, leave: Effect.sync(() => end()) }
}

const make = (queue: Queue): FileMutationQueue["Type"] => ({
  run: (file, effect) =>
    Effect.suspend(() => {
      const { entered, leave } = waiting(queue, file)
      return Effect.ensuring(Effect.zipRight(entered, effect), leave)
    })
})

/**
 * The host's own queue. The effect runs on the caller's fiber; an interruption while waiting ends the wait of the
 * caller, and its effect never runs.
 */
export const layer = (queue: Queue): Layer.Layer<FileMutationQueue> => Layer.sync(FileMutationQueue, () => make(queue))
