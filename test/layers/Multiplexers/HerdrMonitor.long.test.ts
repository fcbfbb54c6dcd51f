import { describe } from "@effect/vitest"
import { befalls, steps, troubles } from "./HerdrMonitorTeam.ts"

describe("a Herdr that fails while a monitor pane is made", () => {
  for (const step of steps) befalls(step, troubles)
})
