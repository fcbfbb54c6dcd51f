import { afterAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Surroundings } from "../support/close/CloseTeam.ts"
import { summary } from "../support/close/PaneLedger.ts"
import { hostVersions } from "../support/HostVersions.ts"
import * as Scenarios from "./CloseScenarios.ts"
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
      for (const step of Scenarios.steps) {
        proves(`/compact: ${step}`, (team) => Scenarios.compacts(team, step))
      }
      for (const step of Scenarios.steps) {
        for (const how of ["reload", "kill"] as const) {
          proves(
            `the coordinator goes by ${how}: ${step}`,
            (team) =>
              Effect.flatMap(Scenarios.coordinatorGoes(team, step, how), (worker) => Scenarios.closesThen(team, worker))
          )
        }
      }
      proves("the coordinator is killed in its close command", Scenarios.diesInCommand)
      for (const step of Scenarios.steps) {
        proves(`the worker is killed: ${step}`, (team) => Scenarios.workerDies(team, step))
      }
      proves("moved beside the coordinator's pane", Scenarios.movedHere)
      proves("moved away", Scenarios.movedAway)
      proves("respawned before it is verified again", (team) => Scenarios.respawned(team, "verify"))
      // Herdr cannot compare and close in one step, and kills what does not end by itself (facts/herdr).
      if (surroundings === "tmux") {
        proves("respawned before the close command", (team) => Scenarios.respawned(team, "close"))
        proves("outlives its pane", Scenarios.outlives)
      }
      proves("another program under its shell", Scenarios.replaced)
      proves("the answer of the close command is lost", Scenarios.answerLost)
      proves("the close command hangs", Scenarios.commandHangs)
      proves("sixteen at once and a seventeenth", Scenarios.sixteen)
    })
  }
}
