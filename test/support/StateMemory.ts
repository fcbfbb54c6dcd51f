import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import type { Secrets } from "../../src/services/Secrets.ts"
import { StateDir } from "../../src/services/StateDir.ts"
import * as SecretsMemory from "./SecretsMemory.ts"

const folderOf = (root: string): string => `/state/${createHash("sha256").update(root).digest("hex").slice(0, 24)}`

/** Names of folders only; nothing is on disk. */
const stateDir = Layer.succeed(StateDir, {
  base: Effect.succeed("/state"),
  of: (root) => Effect.succeed(folderOf(root))
})

/** State directory and secrets without a disk. */
export const layer: Layer.Layer<Secrets | StateDir> = Layer.merge(SecretsMemory.layer, stateDir)
