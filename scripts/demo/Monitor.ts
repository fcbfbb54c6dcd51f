import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { eventually, eventuallyTrue } from "../../test/support/Eventually.ts"
import { placeOf, type Stage, type Team } from "./Story.ts"

const top = (stage: Stage, pane: string) =>
  Effect.map(stage.harness.tmux.run(["display-message", "-p", "-t", pane, "#{pane_top}"]), Number)

/** With its first worker the coordinator has opened a pane above its own. Answers the team with it. */
export const opened = (stage: Stage, team: Omit<Team, "monitor">) => {
  const { evidence, harness, timeline } = stage
  const own = team.coordinator.pane
  return timeline.step(
    "The monitor pane opens",
    team.coordinator,
    Effect.gen(function*() {
      const beside = (window: string | undefined, pane: string, other: string) => window === other && pane !== own
      const rows = yield* evidence.panes("one pane beside the coordinator's", (all) => {
        const window = all.find(({ pane }) => pane === own)?.window
        return all.filter((row) => !row.dead && beside(window, row.pane, row.window)).length === 1
      })
      const window = rows.find(({ pane }) => pane === own)?.window
      const found = rows.find((row) => beside(window, row.pane, row.window))
      if (found === undefined) return yield* Effect.dieMessage("the pane was just there")
      const above = Effect.zipWith(top(stage, found.pane), top(stage, own), (one, other) => one < other)
      yield* eventuallyTrue("the monitor above the coordinator", above)
      const monitor = harness.pane(found.pane)
      yield* monitor.shows(/Ada.*/)
      yield* monitor.shows(/Ben.*/)
      return { ...team, monitor }
    }),
    () =>
      `With its first worker it opened the monitor in a pane above its own: ${
        placeOf(harness)
      } shows Ada and Ben in it.`
  )
}

/** The monitor's last frame, once it shows both workers as they are: there, and idle. */
export const lastFrame = ({ harness, timeline }: Stage, { monitor }: Team) =>
  timeline.step(
    "The monitor shows the team",
    monitor,
    eventually(
      "both workers, connected and idle, in the monitor",
      Effect.map(harness.tmux.run(["capture-pane", "-p", "-t", monitor.pane]), (screen) => {
        const lines = screen.split("\n").map((line) => line.trimEnd())
        const shows = (name: string) => lines.some((line) => line.includes(name) && / connected .* idle /.test(line))
        return shows("Ada") && shows("Ben") ? Option.some(lines.filter((line) => line !== "")) : Option.none()
      })
    ),
    (lines) => ["The monitor shows the person:", "", ...lines.map((line) => `            ${line}`), ""].join("\n")
  )
