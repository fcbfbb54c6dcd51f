import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import type { CloseJob, CloseState } from "../../../src/domain/CloseTable.ts"
import { type Agent, decodeConfig } from "../../../src/domain/TeamConfig.ts"
import { eventually, type NeverCame } from "../Eventually.ts"
import type { PiPane } from "../PiPane.ts"
import type { ScriptedModel } from "../ScriptedModel.ts"

/** A worker in a pane of its own. */
export interface Worker {
  readonly name: string
  readonly sessionId: string
  /** tmux's pane, also below Herdr. */
  readonly pane: string
  /** Its Pi's. */
  readonly pid: number
  readonly pi: PiPane
}

/** A worker's job as the team file has it, and its entry. */
export interface Closing {
  readonly agent: Agent
  readonly job: CloseJob
}

/** The session of every team's coordinator. */
export const coordinatorId = "coordinator-session"

/** What can be read of a team's closes: in its file, and of what its coordinator's model was told. */
export const make = (file: string, model: ScriptedModel, screen: Effect.Effect<string>) => {
  const agents = Effect.map(
    Effect.suspend(() => decodeConfig(fs.readFileSync(file, "utf8"))),
    (config) => config.agents
  )
  const fileText = Effect.sync(() => fs.readFileSync(file, "utf8"))
  const closingOf = (worker: Worker) =>
    Effect.map(agents, (all): Option.Option<Closing> => {
      const agent = all.find((one) => one.sessionId === worker.sessionId)
      if (agent?.closeJob === undefined) return Option.none()
      return Option.some({ agent, job: agent.closeJob })
    })

  /** Waits until its job is there. */
  const until = (worker: Worker, ...states: ReadonlyArray<CloseState>): Effect.Effect<Closing, NeverCame> =>
    eventually(
      `${worker.name}'s close is ${states.join(" or ")}`,
      Effect.orDie(Effect.map(closingOf(worker), Option.filter(({ job }) => states.includes(job.state)))),
      Effect.zipWith(fileText, worker.pi.screen, (config, screen) => `${config}\n${screen}`)
    )

  /** What the coordinator's model was told of a job. */
  const notices = (jobId: string): ReadonlyArray<string> => [
    ...new Set(
      model.requests().flatMap((one) =>
        one.session === coordinatorId
          ? one.messages.flatMap(({ role, text }) =>
            role === "user" && text.startsWith("[Intercom close notice") && text.includes(`\njob: ${jobId}\n`)
              ? [text]
              : []
          )
          : []
      )
    )
  ]

  /** Waits for the notice of a job in that state. */
  const told = (jobId: string, state: string) =>
    eventually(
      `the notice that ${jobId} is ${state}`,
      Effect.sync(() =>
        Option.fromNullable(
          notices(jobId).find((text) => new RegExp(`\nstate: ${state}\\b`).test(text))
        )
      ),
      screen
    )

  return { agents, closingOf, until, notices, told }
}
