import * as Layer from "effect/Layer"
import * as Unqueued from "../../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as TeamFiles from "../../../src/layers/TeamFiles.ts"

/** What is on disk, as the product composes it. Only the host's queue is missing: no edit tool runs here. */
export const layer = TeamFiles.layer.pipe(Layer.provideMerge(Layer.merge(Platform.layer, Unqueued.layer)))

export type Files = Layer.Layer.Success<typeof layer>
