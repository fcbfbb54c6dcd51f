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
  it.scoped("a worker with a running turn parks", () => Effect.flatMap(Team, Scenarios.parks), bound)
  it.scoped("after a text it reports again", () => Effect.flatMap(Team, Scenarios.inputAfterReport), bound)
  it.scoped("a text after it was ready", () => Effect.flatMap(Team, Scenarios.inputAfterReady), bound)
  it.scoped("/compact", () => Effect.flatMap(Team, (team) => Scenarios.compacts(team, "awaiting_settlement")), bound)
  it.scoped("outlives", () => Effect.flatMap(Team, Scenarios.outlives), bound)
})
