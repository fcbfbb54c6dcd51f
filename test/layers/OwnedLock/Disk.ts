import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import { readdirSync, writeFileSync } from "node:fs"
import * as path from "node:path"
import type { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import * as File from "../../../src/layers/OwnedLock/File.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { unknownFacts } from "../../support/ProcessUnknown.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import type { Place } from "./Contract.ts"

export const nameOf = (sessionId: string): string =>
  `session-${createHash("sha256").update(sessionId).digest("hex").slice(0, 24)}.lock`

/** Real files in a state folder of their own; the processes are made up. */
export const disk: Effect.Effect<Place & { readonly folder: string }, never, Scope.Scope> = Effect.map(
  temporaryFolder,
  (folder) => {
    const dead = new Set<number>()
    const hidden = new Set<number>()
    const state = Layer.succeed(StateDir, { base: Effect.succeed(folder), of: () => Effect.succeed(folder) })
    const at = (name: string) => path.join(folder, name)
    return {
      folder,
      root: "/team",
      layerFor: (pid: number) =>
        File.layer.pipe(
          Layer.provide(state),
          Layer.provide(Layer.succeed(ProcessIdentity, {
            ...unknownFacts,
            own: { pid },
            look: (other) =>
              Effect.sync(() => hidden.has(other.pid) ? "unknown" : dead.has(other.pid) ? "gone" : "alive")
          }))
        ),
      die: (pid: number) => void dead.add(pid),
      hide: (pid: number) => void hidden.add(pid),
      held: () => readdirSync(folder).sort().map(at),
      plant: (file: string, content: IdentifiedProcess | "rubbish") =>
        writeFileSync(file, content === "rubbish" ? content : JSON.stringify(content), { mode: 0o600 }),
      config: at("config.lock"),
      session: (sessionId: string) => at(nameOf(sessionId))
    }
  }
)
