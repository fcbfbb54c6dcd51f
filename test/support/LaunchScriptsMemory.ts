import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LaunchScripts } from "../../src/services/LaunchScripts.ts"

/** Launch scripts in memory, by their path. */
export const makeLaunchScripts = () => {
  const written = new Map<string, string>()
  let scripts = 0
  const layer = Layer.succeed(LaunchScripts, {
    write: (root, make) =>
      Effect.sync(() => {
        scripts += 1
        const path = `/state${root === "/" ? "" : root}/launch/script-${scripts}.sh`
        written.set(path, make(path))
        return path
      }),
    discard: (path) => Effect.sync(() => void written.delete(path))
  })
  return { written, layer }
}
