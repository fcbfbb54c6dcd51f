import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertSmall, memoryOf } from "./Memory.ts"

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

describe("the memory of a monitor of 256 workers (spec 8)", () => {
  it.scopedLive("is flat over 1,000 refreshes", () =>
    Effect.gen(function*() {
      const noted = yield* memoryOf(1000)
      assertSmall(noted)
      const [early, late] = [mean(noted.slice(100, 200)), mean(noted.slice(-100))]
      yield* Effect.log(`after 100 refreshes ${early.toFixed(1)} MiB, after 1,000 ${late.toFixed(1)} MiB`)
      assert.isBelow(late - early, 4)
    }), 30 * 60_000)
})
