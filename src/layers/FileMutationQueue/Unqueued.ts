import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"

const run = <A, E, R>(_file: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => effect

/** For processes without a host, whose edit tool could interleave: nothing is waited for. */
export const layer: Layer.Layer<FileMutationQueue> = Layer.succeed(FileMutationQueue, { run })
