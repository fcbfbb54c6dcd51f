import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Activity } from "../../src/domain/Activity.ts"
import { eventually } from "../support/Eventually.ts"
import * as MonitorPane from "./MonitorPane.ts"
import * as Recorded from "./Recorded.ts"

/** Resident memory at most, in MiB (spec 8). */
const mostMb = 90
const hurried = path.join(import.meta.dirname, "Hurried.cjs")
const doing: ReadonlyArray<Activity> = [
  { phase: "idle", detail: "settled" },
  { phase: "tool", detail: "reading_files" },
  { phase: "thinking", detail: "thinking" }
]

/** Resident memory in MiB, of the process that reads and of the one that shows. */
export type Noted = readonly [number, number]

/**
 * The resident memory of a monitor of 256 workers, with a log, a report and a handoff of full size each, at each of so many
 * refreshes; meanwhile `change` is made to its root again and again.
 */
export const memoryOf = <E, R>(
  refreshes: number,
  change: (at: MonitorPane.Place, turn: number) => Effect.Effect<void, E, R> = () => Effect.void
) =>
  Effect.gen(function*() {
    const at = yield* MonitorPane.make(256, (n) => 1 + n, "word ".repeat(800))
    for (let n = 0; n < 256; n += 1) {
      Recorded.activity(at.root, n, doing[n % doing.length] ?? { phase: "idle", detail: "settled" }, n * 1000)
      yield* Recorded.report(at.root, n, "blocked", "word ".repeat(400))
    }
    const file = path.join(at.folder, "memory")
    const pane = yield* at.start({
      options: [`--require=${hurried}`],
      environment: { MONITOR_MEMORY: file },
      width: 120,
      height: 40
    })
    let turn = 0
    const noted = yield* eventually(
      `${refreshes} refreshes`,
      Effect.gen(function*() {
        yield* change(at, turn)
        turn += 1
        const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : []
        if (lines.length < refreshes) return Option.none()
        return Option.some(lines.map((line): Noted => {
          const [reads = Number.NaN, shows = Number.NaN] = line.split(" ").map(Number)
          return [reads, shows]
        }))
      }),
      Effect.orElseSucceed(Effect.map(pane.lines, (lines) => lines.join("\n")), () => "no pane"),
      "25 minutes"
    )
    yield* pane.press("q")
    assert.strictEqual(yield* pane.noted("code"), "0")
    return noted
  })

/** Never more than spec 8 allows. */
export const assertSmall = (noted: ReadonlyArray<Noted>): void => assert.isAtMost(Math.max(...noted.flat()), mostMb)
