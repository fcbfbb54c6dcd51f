import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertSmall, memoryOf } from "./Memory.ts"

describe("the memory of a monitor of 256 workers (spec 8)", () => {
  it.scopedLive("stays below 90 MiB", () => Effect.map(memoryOf(10), assertSmall), 120_000)
})
