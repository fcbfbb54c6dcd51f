import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeTeamWorld } from "../../support/ConfigMemory.ts"
import type { Place } from "./Contract.ts"

/** A root in memory, as the contract describes it. */
export const memory: Effect.Effect<Place & { readonly remove: Effect.Effect<void> }> = Effect.sync(() => {
  const world = makeTeamWorld("/team", "/team/api", "/team/api/inner", "/beside")
  world.folders.set("/team/inside", "/team/api").set("/team/outside", "/beside")
  return {
    layer: world.layer,
    root: "/team",
    remove: Effect.sync(() => world.files.delete("/team")),
    write: (text) => Effect.sync(() => world.files.set("/team", text)),
    text: Effect.sync(() => Option.fromNullable(world.files.get("/team")))
  }
})
