import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { discover, killAtAll, killedOwner } from "./Kills.ts"
import { takeOverAtOnce } from "./Takeovers.ts"
import { twelveStart } from "./Twelve.ts"
import { writersAndEditor, writersAtOnce } from "./Writers.ts"

const minutes = (count: number) => ({ timeout: count * 60_000 })

/** The figures are this file's product: they go into the closing note. */
const shown = <A, E, R>(what: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.timed(run).pipe(
    Effect.tap(([duration, figures]) =>
      Effect.sync(() => console.log(`${what} (${duration.toString()}):`, JSON.stringify(figures)))
    ),
    Effect.map(([, figures]) => figures)
  )

describe("the team file among real processes", () => {
  it.live("twelve that start a team at once, 50 rounds", () => shown("twelve start", twelveStart(50)), minutes(10))
  it.live("two and four writers at once", () =>
    Effect.zipRight(
      shown("writers at once", writersAtOnce(2, 50)),
      shown("writers at once", writersAtOnce(4, 50))
    ), minutes(10))
  it.live(
    "three writers and an outside editor",
    () =>
      Effect.forEach(
        [20, 5],
        (everyMs) => shown(`three writers, an editor every ${everyMs} ms`, writersAndEditor(50, everyMs))
      ),
    minutes(10)
  )
})

describe("locks among real processes", () => {
  it.live(
    "two and four that take over a killed process's lock, 50 rounds",
    () => Effect.forEach([2, 4], (takers) => shown("take over at once", takeOverAtOnce(takers, 50))),
    minutes(10)
  )
})

describe("a process that is killed", () => {
  it.scopedLive("before, after and in the middle of every step of each operation", () =>
    Effect.gen(function*() {
      const stale = yield* killedOwner
      const cases = yield* discover(stale)
      const { kills } = yield* shown("kill -9", killAtAll(cases, stale, 4))
      assert.isAtLeast(kills, 300)
    }), minutes(30))
})
