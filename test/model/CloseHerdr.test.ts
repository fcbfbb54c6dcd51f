import { describe, it } from "@effect/vitest"
import { holdsUnder } from "./Faults.ts"

describe("Closing under herdr, whatever goes wrong", () => {
  it.live("keeps what must always hold (spec 6.4): 2,500 schedules", () => holdsUnder("herdr", 2500, 1), 900_000)
})
