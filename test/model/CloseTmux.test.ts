import { describe, it } from "@effect/vitest"
import { holdsUnder } from "./Faults.ts"

describe("Closing under tmux, whatever goes wrong", () => {
  it.live("keeps what must always hold (spec 6.4): 2,500 schedules", () => holdsUnder("tmux", 2500, 1), 900_000)
})
