import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LaunchScripts } from "../../src/services/LaunchScripts.ts"

/** Launch scripts in memory, by their path. */
export const makeLaunchScripts = () => {
  const written = new Map<string, string>()
  const layer = Layer.succeed(LaunchScripts, {
    write: (root, make) =>
      Effect.sync(() => {
        const path = `/state${root === "/" ? "" : root}/launch/script-${written.size + 1}.sh`
        written.set(path, make(path))
        return path
      })
  })
  return { written, layer }
}
