import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { eventually } from "../support/Eventually.ts"
import type { Surroundings } from "../support/PiHarness.ts"
import { team } from "./TeamScenarios.ts"

/** The panes beside the coordinator's from top to bottom, once there is one above it and the focus is below. */
const windowOf = (run: (args: ReadonlyArray<string>) => Effect.Effect<string, unknown>, pane: string) =>
  eventually(
    "the monitor's pane",
    Effect.map(
      Effect.orElseSucceed(
        run(["list-panes", "-t", pane, "-F", "#{pane_top} #{pane_id}#{?pane_active,*,} #{pane_pid}"]),
        () => ""
      ),
      (text) => {
        const rows = text.trim().split("\n").map((line) => line.split(" "))
          .toSorted(([one], [two]) => Number(one) - Number(two)).map(([, id, pid]) => ({ id, pid }))
        return rows.length === 2 && rows[1]?.id === `${pane}*` ? Option.some(rows) : Option.none()
      }
    )
  )

describe.each<Surroundings>(["tmux", "herdr"])("the monitor pane of a real Pi in %s", (surroundings) => {
  it.scopedLive(
    "comes with the first worker, above the coordinator and without the focus; a reload keeps it",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness, model } = yield* team("1.6.0", surroundings)
        const program = join(dirname(harness.entry), "monitor.cjs")
        const worker = yield* harness.start({ sessionId: "worker-session" })
        yield* worker.shows("• Ada")
        const before = yield* windowOf(harness.tmux.run, coordinator.pane)
        assert.lengthOf(before, 2)
        assert.strictEqual(before[1]?.id, `${coordinator.pane}*`)
        const runs = (pid: string | undefined) => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
        yield* eventually(
          "the monitor's program",
          Effect.sync(() => {
            // Herdr's pane runs a shell at first, whose child it becomes.
            const children = fs.readFileSync(`/proc/${before[0]?.pid}/task/${before[0]?.pid}/children`, "utf8")
            const found = [before[0]?.pid, ...children.trim().split(" ")].filter((pid) =>
              pid !== "" && runs(pid)[1] === program
            )
            return Option.fromNullable(found[0])
          })
        )
        yield* coordinator.type("/reload")
        yield* coordinator.shows("Reloaded")
        yield* coordinator.type("tell Ada: after the reload")
        yield* model.request(
          "a message at the worker",
          (one) => one.session === "worker-session" && one.lastUser.endsWith("after the reload")
        )
        assert.deepStrictEqual(yield* windowOf(harness.tmux.run, coordinator.pane), before)
        assert.notMatch(yield* coordinator.screen, /monitor pane/)
      }),
    240_000
  )
})
