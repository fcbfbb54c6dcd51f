import * as Effect from "effect/Effect"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { contract } from "./Contract.ts"

contract(
  "memory",
  Effect.sync(() => {
    const { layer, written } = makeLaunchScripts()
    return { layer, root: "/team", other: "/other", read: (path) => written.get(path) }
  })
)
