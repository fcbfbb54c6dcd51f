import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { toolArguments } from "../../domain/ToolCatalogue.ts"
import { HostTools } from "../../services/HostTools.ts"

const ours: ReadonlySet<string> = new Set(Object.keys(toolArguments))

const make = (pi: Pick<ExtensionAPI, "getActiveTools" | "setActiveTools">): HostTools["Type"] => ({
  activate: (names) => {
    const change = Effect.try(() => {
      const active = pi.getActiveTools()
      const wanted = new Set<string>(names)
      const has = new Set(active)
      // Setting rebuilds the system prompt and with it the provider's cache, so an equal choice sets nothing.
      if ([...ours].every((name) => has.has(name) === wanted.has(name))) return
      pi.setActiveTools([...active.filter((name) => !ours.has(name)), ...wanted])
    })
    // Pi throws only when the session was replaced; then there is nothing left to activate.
    return Effect.asVoid(Effect.option(change))
  }
})

/** Pi's active tools. Tools must be registered before they are activated: Pi ignores unknown names. */
export const layer = (pi: Pick<ExtensionAPI, "getActiveTools" | "setActiveTools">): Layer.Layer<HostTools> =>
  Layer.sync(HostTools, () => make(pi))
