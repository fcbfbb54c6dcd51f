import * as Layer from "effect/Layer"
import { homedir } from "node:os"
import { Platform } from "../../services/Platform.ts"

const systemOf = (platform: NodeJS.Platform) =>
  platform === "linux" || platform === "darwin" || platform === "win32" ? platform : "other"

/** The person's home directory, for entries that need it before any layer is built. */
export const home: string = homedir()

/** The operating system that this process runs on. */
export const layer: Layer.Layer<Platform> = Layer.succeed(Platform, { os: systemOf(process.platform), home })
