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

/** The resident memory of a monitor of 256 workers, with a log and a handoff each, at each of so many refreshes. */
export const memoryOf = (refreshes: number) =>
  Effect.gen(function*() {
    const at = yield* MonitorPane.make(256, (n) => 1 + n, "word ".repeat(400))
    for (let n = 0; n < 256; n += 1) {
      Recorded.activity(at.root, n, doing[n % doing.length] ?? { phase: "idle", detail: "settled" }, n * 1000)
      if (n % 4 === 0) yield* Recorded.report(at.root, n, "blocked", "Waits for the registry.")
    }
    const file = path.join(at.folder, "memory")
    const pane = yield* at.start({
      options: [`--require=${hurried}`],
      environment: { MONITOR_MEMORY: file },
      width: 120,
      height: 40
    })
    const noted = yield* eventually(
      `${refreshes} refreshes`,
      Effect.sync(() => {
        const lines = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trimEnd().split("\n") : []
        return lines.length < refreshes ? Option.none() : Option.some(lines.map((line) => Number.parseFloat(line)))
      }),
      Effect.orElseSucceed(Effect.map(pane.lines, (lines) => lines.join("\n")), () => "no pane"),
      "25 minutes"
    )
    yield* pane.press("q")
    assert.strictEqual(yield* pane.noted("code"), "0")
    return noted
  })

/** Never more than spec 8 allows. */
export const assertSmall = (noted: ReadonlyArray<number>): void => assert.isAtMost(Math.max(...noted), mostMb)
