import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { askedForHandoff, words } from "./Agents.ts"
import { isOpen } from "./Leftovers.ts"
import { from, goesWithItsProcess, type Stage, type Team } from "./Story.ts"
import { ensure, type StepFailed, Wrong } from "./Timeline.ts"

/** A pane's first process and its children: in Herdr Pi was typed into a shell. */
const family = (pid: number): ReadonlyArray<number> => [
  pid,
  ...fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number).filter((one) => one > 0)
]

/** The coordinator has Ben's model asked for a handoff. Answers the job, and what there was before it. */
const asked = (stage: Stage, { ben: { agent, pane }, coordinator }: Team) =>
  stage.timeline.step(
    "Ben is asked for his handoff",
    pane,
    Effect.gen(function*() {
      const { evidence } = stage
      const rows = yield* evidence.panes("living panes", (all) => all.every(({ dead }) => !dead))
      const mine = rows.filter((row) => row.pane === pane.pane)
      yield* ensure(mine.length === 1, "Ben's pane is not there")
      const processes = mine.flatMap(({ pid }) => family(pid))
      yield* goesWithItsProcess(stage, pane.pane)
      yield* coordinator.type(words.parkBen)
      const leader = { name: "Coordinator", sessionId: coordinator.sessionId }
      const { lastUser } = yield* evidence.given(agent.sessionId, [from("close request", leader)])
      const jobId = askedForHandoff(lastUser)
      return jobId === undefined ? yield* new Wrong({ why: "the request names no job" }) : { jobId, processes, rows }
    }),
    () => "Told to park Ben, the coordinator had him asked for a handoff: what is done, for whoever goes on."
  )

/** Ben reports, his turn ends, his pane is closed, and nothing else is. Answers the team with his entry as it is then. */
const closed = (
  { evidence, timeline }: Stage,
  team: Team,
  { jobId, processes, rows }: Effect.Effect.Success<ReturnType<typeof asked>>
) =>
  timeline.step(
    "Ben's pane is closed",
    team.coordinator,
    Effect.gen(function*() {
      const { agent: old, pane } = team.ben
      yield* evidence.given(team.coordinator.sessionId, [
        `${from("close notice", old)}\nworker: Ben\njob: ${jobId}\nstate: closed\nhandoff of this close: saved`
      ])
      const agent = yield* evidence.agent(old.name)
      const { closeJob, handoff, ...rest } = agent
      yield* ensure(closeJob?.jobId === jobId && closeJob.state === "closed", "the team file does not say closed")
      yield* ensure(
        handoff?.jobId === jobId && handoff.summary === words.handoff,
        "the team file has another handoff than the one that Ben reported"
      )
      yield* ensure(JSON.stringify(rest) === JSON.stringify(old), "the rest of Ben's entry is not what it was")
      const others = rows.filter((row) => row.pane !== pane.pane)
      yield* evidence.panes("every pane but Ben's, as it was", (all) =>
        all.length === others.length &&
        others.every(({ pane, pid }) => all.some((row) => row.pane === pane && row.pid === pid && !row.dead)))
      yield* Effect.forEach(processes, evidence.ended)
      yield* ensure(!(yield* isOpen(old.port)), `something still listens on port ${old.port}`)
      return { ...team, ben: { agent, pane } }
    }),
    () =>
      "Ben reported it and ended his turn: his handoff is in the team file, his pane was closed and no other, his\n" +
      "            process is gone, his port is free."
  )

/** A worker is parked: its handoff is saved, its pane closed. Answers the team as it is then. */
export const park = (stage: Stage, team: Team): Effect.Effect<Team, StepFailed> =>
  Effect.flatMap(asked(stage, team), (found) => closed(stage, team, found))
