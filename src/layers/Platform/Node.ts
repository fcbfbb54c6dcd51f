import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { homedir } from "node:os"
import { Platform, RenameFailed } from "../../services/Platform.ts"
import { codeOf } from "../Files.ts"

const systemOf = (platform: NodeJS.Platform) =>
  platform === "linux" || platform === "darwin" || platform === "win32" ? platform : "other"

/** The person's home directory, for entries that need it before any layer is built. */
export const home: string = homedir()

const rename = (from: string, to: string): Effect.Effect<void, RenameFailed> =>
  Effect.try({
    try: () => fs.renameSync(from, to),
    catch: (cause) => new RenameFailed({ code: codeOf(cause) })
  })

/** The operating system that this process runs on. */
export const layer: Layer.Layer<Platform> = Layer.succeed(Platform, {
  os: systemOf(process.platform),
  home,
  rename
})
