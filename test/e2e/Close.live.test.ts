import { afterAll, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CloseTeam from "../support/close/CloseTeam.ts"
import { summary } from "../support/close/PaneLedger.ts"
import * as Scenarios from "./CloseScenarios.ts"

class Team extends Context.Tag("test/CloseTeam")<Team, CloseTeam.CloseTeam>() {}

const bound = 240_000
const inTmux = Layer.scoped(Team, CloseTeam.make("1.6.0", "tmux"))

afterAll(() => console.log(summary()))

layer(inTmux, { excludeTestServices: true, timeout: bound })("closing in real Pi 1.6.0 in tmux", (it) => {
  const proves = (what: string, scenario: (team: CloseTeam.CloseTeam) => Effect.Effect<unknown, unknown>) =>
    it.scoped(what, () => Effect.asVoid(Effect.flatMap(Team, scenario)), bound)
  proves("a parked worker is resumed and knows its name, its responsibility and its handoff", Scenarios.resumes)
  proves("a text after the report: it reports again and is closed with the later handoff", Scenarios.inputAfterReport)
  proves("a text after it was ready: no close, the handoff is kept", Scenarios.inputAfterReady)
  proves("a compaction after the report: it reports again", (team) => Scenarios.compacts(team, "awaiting_settlement"))
  proves("a process that outlives its pane: uncertain, fenced, closed by proof", Scenarios.outlives)
  proves("a pane moved beside the coordinator's: it alone is closed", Scenarios.movedHere)
  proves("a pane moved to another session: spared", Scenarios.movedAway)
  proves(
    "another program in its pane when the command comes: spared by tmux itself",
    (team) => Scenarios.respawned(team, "close")
  )
  proves("another program under the same shell: spared", Scenarios.replaced)
  proves("the answer of the close command is lost: closed", Scenarios.answerLost)
  proves("the close command hangs: uncertain", Scenarios.commandHangs)
  proves("the worker is killed before it was asked", (team) => Scenarios.workerDies(team, "requested"))
  proves(
    "the coordinator is reloaded while it waits for the end of the turn: interrupted; asked again, it closes",
    (team) =>
      Effect.flatMap(
        Scenarios.coordinatorGoes(team, "awaiting_settlement", "reload"),
        (worker) => Scenarios.closesThen(team, worker)
      )
  )
  proves(
    "the coordinator is killed while it closes: uncertain, nothing is replayed",
    (team) =>
      Effect.flatMap(Scenarios.coordinatorGoes(team, "closing", "kill"), (worker) => Scenarios.closesThen(team, worker))
  )
})
