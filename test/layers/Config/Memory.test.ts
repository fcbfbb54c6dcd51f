import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeTeamWorld } from "../../support/ConfigMemory.ts"
import { contract } from "./Contract.ts"

contract(
  "memory",
  Effect.sync(() => {
    const world = makeTeamWorld("/team", "/team/api", "/team/api/inner", "/beside")
    world.folders.set("/team/inside", "/team/api").set("/team/outside", "/beside")
    return {
      layer: world.layer,
      root: "/team",
      write: (text) => Effect.sync(() => world.files.set("/team", text)),
      text: Effect.sync(() => Option.fromNullable(world.files.get("/team")))
    }
  })
)
