import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { nextTurn } from "../../src/layers/Turns.ts"
import { nastyTeam } from "./Nasty.ts"
import { keeps } from "./Rules.ts"

const sizes = Array.from({ length: 201 }, (_, n) => n)
const cases = [0, 1, 12, 256].flatMap((workers) => [false, true].map((details) => ({ workers, details })))

describe("exactly the height, no line wider than the width, colour adds only SGR (spec 8)", () => {
  it.live.each(cases)(
    "at every width and height from 0 to 200 with $workers workers, details $details",
    ({ details, workers }) =>
      Effect.gen(function*() {
        const team = { ...nastyTeam(workers), details }
        let frames = 0
        for (const width of sizes) {
          const fits = new Set<string>()
          for (const height of sizes) {
            // Other workers and pages from size to size, so that each worker's texts meet many of them.
            const selected = `${(width + Math.floor(height / 10)) % Math.max(1, workers)}`
            keeps({ ...team, selected, turned: height % 10 }, width, height, 0, fits)
            frames += 1
          }
          // Vitest gives up a process that does not answer it.
          yield* nextTurn
        }
        console.log(`${workers} workers, details ${details ? "open" : "closed"}: ${frames} frames, each in both styles`)
      }),
    // Only bounds a hang: all of it takes some minutes where nothing else runs.
    60 * 60_000
  )
})
