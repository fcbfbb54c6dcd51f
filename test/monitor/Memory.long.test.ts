import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { place } from "../../scripts/bench/Team.ts"
import { assertSmall, memoryOf } from "./Memory.ts"
import type * as MonitorPane from "./MonitorPane.ts"
import * as Recorded from "./Recorded.ts"

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

const firstLine = (file: string): string => `${fs.readFileSync(file, "utf8").split("\n")[0]}\n`

/** A worker writes, rotates or begins its log anew, another is removed or comes again, a report is replaced: in turn. */
const change = (at: MonitorPane.Place, turn: number) =>
  Effect.gen(function*() {
    const logs = path.join(at.root, ".pi-intercom/logs")
    const names = fs.readdirSync(logs).filter((name) => name.endsWith(".jsonl"))
    const file = path.join(logs, names[turn * 7 % names.length] ?? "")
    const n = turn % 256
    switch (turn % 5) {
      case 0:
        return fs.appendFileSync(file, firstLine(file))
      case 1: {
        const line = firstLine(file)
        fs.renameSync(file, `${file}.${1 + turn % 2}`)
        return fs.writeFileSync(file, line, { mode: 0o600 })
      }
      case 2:
        for (const part of ["", ".1", ".2"]) fs.rmSync(file + part, { force: true })
        return Recorded.activity(at.root, n, { phase: "idle", detail: "settled" }, 0)
      case 3:
        return void place(at.root, { ...at.config, agents: at.config.agents.filter((_, m) => m === 0 || m !== 1 + n) })
      default:
        return yield* Recorded.report(at.root, n, "needs_decision", `Which? ${turn} `.repeat(120))
    }
  })

describe("the memory of a monitor of 256 workers (spec 8)", () => {
  it.scopedLive("is flat over 1,000 refreshes of a folder that changes", () =>
    Effect.gen(function*() {
      const noted = yield* memoryOf(1000, change)
      const [early, late] = [noted.slice(100, 300), noted.slice(-200)]
      for (const [which, name] of [[0, "reads"], [1, "shows"]] as const) {
        const [before, after] = [early, late].map((some) => mean(some.map((one) => one[which])))
        const most = Math.max(...noted.map((one) => one[which]))
        yield* Effect.log(
          `the process that ${name}: at first ${before?.toFixed(1)}, at last ${after?.toFixed(1)}, at most ${most} MiB`
        )
        assert.isBelow((after ?? Number.NaN) - (before ?? Number.NaN), 4)
      }
      assertSmall(noted)
    }), 30 * 60_000)
})
