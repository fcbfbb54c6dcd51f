import { layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CloseTeam from "../support/close/CloseTeam.ts"
import type { HostVersion } from "../support/HostVersions.ts"

class Team extends Context.Tag("test/CloseTeam")<Team, CloseTeam.CloseTeam>() {}

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 300_000

/** One case over a team that several share. */
export type Case = (what: string, scenario: (team: CloseTeam.CloseTeam) => Effect.Effect<unknown, unknown>) => void

/** Cases that share one coordinator, each with workers of its own; the account of all panes is settled after them. */
export const sharing = (version: HostVersion, surroundings: CloseTeam.Surroundings, cases: (one: Case) => void): void =>
  layer(Layer.scoped(Team, CloseTeam.make(version, surroundings)), { excludeTestServices: true, timeout: bound })(
    `closing in real Pi ${version} in ${surroundings}`,
    (it) =>
      cases((what, scenario) =>
        it.scoped(what, () =>
          Effect.flatMap(Team, (team) =>
            // What one case did to Herdr is not done to the next.
            Effect.ensuring(Effect.asVoid(scenario(team)), team.harness.herdr?.faults() ?? Effect.void)), bound)
      )
  )
