import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Platform } from "../../src/services/Platform.ts"

/** A machine of that kind, whose renames succeed and do nothing. */
export const platformAs = (os: Platform["Type"]["os"], home = ""): Layer.Layer<Platform> =>
  Layer.succeed(Platform, { os, home, rename: () => Effect.void })
