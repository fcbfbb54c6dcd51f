import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { renameSync, writeFileSync } from "node:fs"
import * as Node from "../../../src/layers/CommandRunner/Node.ts"
import * as Tmux from "../../../src/layers/Multiplexers/Tmux.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"

/** A program in a pane: publishes which pane that is, or why it is not known, and stays. */
const out = process.argv[2] ?? ""
const found = await Effect.runPromise(
  Effect.flatMap(Tmux.make, ({ identify }) => Effect.either(identify)).pipe(
    Effect.provide(Layer.merge(Node.layer, Layer.provideMerge(Procfs.layer, Platform.layer)))
  )
)
const text = Either.isRight(found) ? { ...found.right, pid: process.pid } : { refused: found.left.message }
writeFileSync(`${out}.tmp`, JSON.stringify(text))
renameSync(`${out}.tmp`, out)
setInterval(() => {}, 1e6)
