import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { toolArguments, type ToolName } from "../../domain/ToolCatalogue.ts"
import { HostTools } from "../../services/HostTools.ts"

const ours: ReadonlySet<string> = new Set(Object.keys(toolArguments))

type Tools = Pick<ExtensionAPI, "getActiveTools" | "setActiveTools">

/** Activates exactly these of ours. Pi throws only when the session was replaced; then nothing is left to activate. */
export const activate = (pi: Tools, names: ReadonlyArray<ToolName>): Effect.Effect<void> => {
  const change = Effect.try(() => {
    const active = pi.getActiveTools()
    const wanted = new Set<string>(names)
    const has = new Set(active)
    // Setting rebuilds the system prompt and with it the provider's cache, so an equal choice sets nothing.
    if ([...ours].every((name) => has.has(name) === wanted.has(name))) return
    pi.setActiveTools([...active.filter((name) => !ours.has(name)), ...wanted])
  })
  return Effect.asVoid(Effect.option(change))
}

/** Pi's active tools. Tools must be registered before they are activated: Pi ignores unknown names. */
export const layer = (pi: Tools): Layer.Layer<HostTools> =>
  Layer.succeed(HostTools, { activate: (names) => activate(pi, names) })
