import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash, createHmac } from "node:crypto"
import { Secrets } from "../../src/services/Secrets.ts"
import { StateDir } from "../../src/services/StateDir.ts"

const folderOf = (root: string): string => `/state/${createHash("sha256").update(root).digest("hex").slice(0, 24)}`

/** Every root has a fixed key of its own, so that sessions of one team agree and others do not. */
const secrets = Layer.succeed(Secrets, {
  key: (root) => {
    const mac = (text: string): string => createHmac("sha256", `of ${root}`).update(text).digest("base64url")
    return Effect.succeed({ mac, verify: (text, given) => mac(text) === given })
  }
})

/** Names of folders only; nothing is on disk. */
const stateDir = Layer.succeed(StateDir, {
  base: Effect.succeed("/state"),
  of: (root) => Effect.succeed(folderOf(root))
})

/** State directory and secrets without a disk. */
export const layer: Layer.Layer<Secrets | StateDir> = Layer.merge(secrets, stateDir)
