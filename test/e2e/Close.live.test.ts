import { afterAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { summary } from "../support/close/PaneLedger.ts"
import * as Panes from "./ClosePanes.ts"
import * as Scenarios from "./CloseScenarios.ts"
import * as Steps from "./CloseSteps.ts"
import { sharing } from "./CloseTeams.ts"

afterAll(() => console.log(summary()))

// One case of each kind; Close.long.test.ts has every step, in everything.
sharing("1.6.0", "tmux", (proves) => {
  proves("a parked worker is resumed and knows its name, its responsibility and its handoff", Scenarios.resumes)
  proves("a text after the report: it reports again and is closed with the later handoff", Scenarios.inputAfterReport)
  proves("a text after it was ready: no close, the handoff is kept", Scenarios.inputAfterReady)
  proves("a compaction after the report: it reports again", (team) => Scenarios.compacts(team, "awaiting_settlement"))
  proves("a process that outlives its pane: uncertain, fenced, closed by proof", Panes.outlives)
  proves("a Pi that is a child of its pane's shell and outlives both: the same", Panes.childOutlives)
  proves("children of its Pi that ignore SIGHUP: closed, and they are left alone", Panes.childrenOutlive)
  proves("a pane moved beside the coordinator's: it alone is closed", Panes.movedHere)
  proves("a pane moved to another session: spared", Panes.movedAway)
  proves(
    "another program in its pane when the command comes: spared by tmux itself",
    (team) => Panes.respawned(team, "close")
  )
  proves("another program under the same shell: spared", Panes.replaced)
  proves("the answer of the close command is lost: closed", Panes.answerLost)
  proves("the close command hangs: uncertain", Panes.commandHangs)
  proves("sixteen at once, and a seventeenth that is refused", Scenarios.sixteenMembers)
  proves("the worker is killed before it was asked", (team) => Scenarios.workerDies(team, "requested"))
  proves(
    "the coordinator is reloaded while it waits for the end of the turn: interrupted; asked again, it closes",
    (team) =>
      Effect.flatMap(
        Scenarios.coordinatorGoes(team, "awaiting_settlement", "reload"),
        (worker) => Steps.closesThen(team, worker)
      )
  )
  proves(
    "the coordinator is killed while it closes: uncertain, nothing is replayed",
    (team) =>
      Effect.flatMap(Scenarios.coordinatorGoes(team, "closing", "kill"), (worker) => Steps.closesThen(team, worker))
  )
})

sharing("1.6.0", "herdr", (proves) => {
  proves("a worker with a running turn parks", Scenarios.parks)
  proves("the answer of the close command is lost: closed", Panes.answerLost)
})

sharing("1.6.0", "herdr with its Pi integration", (proves) => {
  proves("a worker with a running turn parks", Scenarios.parks)
})

sharing("0.84.4", "tmux", (proves) => {
  proves("a worker with a running turn parks", Scenarios.parks)
})
