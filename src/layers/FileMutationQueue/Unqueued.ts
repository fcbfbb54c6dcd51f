import * as Layer from "effect/Layer"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"

/** For processes without a host, whose edit tool could interleave: nothing is waited for. */
export const layer: Layer.Layer<FileMutationQueue> = Layer.succeed(FileMutationQueue, {
  run: (_file, effect) => effect
})
