import { afterAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Surroundings } from "../support/close/CloseTeam.ts"
import { summary } from "../support/close/PaneLedger.ts"
import { hostVersions } from "../support/HostVersions.ts"
import * as Panes from "./ClosePanes.ts"
import * as Scenarios from "./CloseScenarios.ts"
import * as Steps from "./CloseSteps.ts"
import { sharing } from "./CloseTeams.ts"

afterAll(() => console.log(summary()))

const everywhere: ReadonlyArray<Surroundings> = ["tmux", "herdr", "herdr with its Pi integration"]

for (const version of hostVersions) {
  for (const surroundings of everywhere) {
    sharing(version, surroundings, (proves) => {
      proves("a parked worker is resumed", Scenarios.resumes)
      for (const step of ["requested", "awaiting_handoff"] as const) {
        proves(`a text: ${step}`, (team) => Scenarios.inputBefore(team, step))
      }
      proves("a text: awaiting_settlement", Scenarios.inputAfterReport)
      proves("a text: closing", Scenarios.inputAfterReady)
      for (const step of Steps.steps) {
        proves(`/compact: ${step}`, (team) => Scenarios.compacts(team, step))
      }
      for (const step of Steps.steps) {
        for (const how of ["reload", "kill"] as const) {
          proves(
            `the coordinator goes by ${how}: ${step}`,
            (team) =>
              Effect.flatMap(Scenarios.coordinatorGoes(team, step, how), (worker) => Steps.closesThen(team, worker))
          )
        }
      }
      proves("the coordinator is killed in its close command", Scenarios.diesInCommand)
      for (const step of Steps.steps) {
        proves(`the worker is killed: ${step}`, (team) => Scenarios.workerDies(team, step))
      }
      proves("moved beside the coordinator's pane", Panes.movedHere)
      proves("moved away", Panes.movedAway)
      proves("respawned before it is verified again", (team) => Panes.respawned(team, "verify"))
      // Herdr cannot compare and close in one step, and kills what does not end by itself (facts/herdr).
      if (surroundings === "tmux") {
        proves("respawned before the close command", (team) => Panes.respawned(team, "close"))
        proves("outlives its pane", Panes.outlives)
        proves("outlives its pane, a child of its shell", Panes.childOutlives)
      }
      proves("children that ignore SIGHUP", Panes.childrenOutlive)
      proves("another program under its shell", Panes.replaced)
      proves("the answer of the close command is lost", Panes.answerLost)
      proves("the close command hangs", Panes.commandHangs)
      proves("sixteen at once and a seventeenth", Scenarios.sixteen)
    })
  }
}
