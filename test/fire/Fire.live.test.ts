import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { discover, killAtAll, killedOwner, operations } from "./Kills.ts"
import { killedCoordinator, stoppedOwner, takeOverAtOnce } from "./Takeovers.ts"
import { twelveStart } from "./Twelve.ts"
import { writersAndEditor, writersAtOnce } from "./Writers.ts"

// One case of each kind, in real processes; the matrices are in Fire.long.test.ts.

describe("the team file among real processes", () => {
  it.live("twelve that start a team at once: one coordinator and eleven registered workers", () => twelveStart(5))
  it.live("two that configure fifty workers each, at once: all hundred are there", () => writersAtOnce(2, 50))
  it.live("three writers and an outside editor: no writer loses another's entry", () => writersAndEditor(10, 20))
})

describe("locks among real processes", () => {
  it.live("two that take over a killed process's lock: one owner at a time", () => takeOverAtOnce(2, 5))
  it.live("a killed coordinator's locks are taken over", () => killedCoordinator)
  it.live("a stopped process keeps its locks, and is named", () => stoppedOwner)
})

describe("a process that is killed", () => {
  it.scopedLive("at some steps of each operation: whole files, and the next start mends the rest", () =>
    Effect.gen(function*() {
      const stale = yield* killedOwner
      const cases = yield* discover(stale)
      const some = operations.flatMap((operation) => {
        const own = cases.filter((one) => one.operation === operation)
        return own.filter((_, index) => index % Math.ceil(own.length / 5) === 2)
      })
      yield* killAtAll(some, stale, 2)
    }))
})
