import * as Data from "effect/Data"
import * as Either from "effect/Either"
import {
  type CloseJob,
  type CloseReason,
  type CloseState,
  fences,
  type Handoff,
  isPending,
  maxPending,
  mayBecome
} from "./CloseTable.ts"
import type { ConfigRefused } from "./ConfigErrors.ts"
import { fenceRefusal } from "./Permissions.ts"
import type { SessionId } from "./Primitives.ts"
import { Refused } from "./SessionErrors.ts"
import { type Agent, agentBySession, proposeConfig, type TeamConfig } from "./TeamConfig.ts"

/** What a job comes to: the state, why, and in one write with it the handoff that was reported. */
export interface Move {
  readonly state: CloseState
  readonly reason?: CloseReason
  readonly handoff?: Handoff
}

/** The job is not where its fiber left it: somebody else has written, so nothing was. */
export class JobChanged extends Data.TaggedError("JobChanged")<{}> {
  override get message(): string {
    return "The close job in the team file is not the one that this session runs, so nothing was written."
  }
}

const withEntry = (config: TeamConfig, agent: Agent, entry: Agent) =>
  proposeConfig(config, { agents: config.agents.map((one) => one === agent ? entry : one) })

/**
 * The config with a new job in state `requested` at the entry that the caller has looked at. Refused when that changed,
 * is fenced at `now` (ms), or 16 are pending already.
 */
export const requestClose =
  (seen: Agent, job: CloseJob, now: number) =>
  (config: TeamConfig): Either.Either<TeamConfig, Refused | ConfigRefused> => {
    const agent = agentBySession(config, seen.sessionId)
    if (agent === undefined || agent.port !== seen.port || agent.projectDirectory !== seen.projectDirectory) {
      return Either.left(
        new Refused({
          reason: "changed",
          sentence: `${seen.name}'s entry in the team file changed meanwhile, so nothing was asked of it. Look at ` +
            "intercom_list and, if it is right, call again."
        })
      )
    }
    if (fences(agent.closeJob, now)) return Either.left(fenceRefusal({ name: agent.name, self: false }))
    const others = config.agents.filter(({ closeJob }) => closeJob !== undefined && isPending(closeJob.state))
    if (others.length >= maxPending) {
      return Either.left(
        new Refused({
          reason: "busy",
          sentence: `${maxPending} closes are under way already, so ${agent.name} was not asked. Wait for a close ` +
            "notice, then call again."
        })
      )
    }
    return withEntry(config, agent, { ...agent, closeJob: job })
  }

/**
 * The config with a job moved on, compared and set: only while its entry carries that job in one of the `from` states
 * (spec 6.1). `at` is the time of the move, ISO. A caller whose earlier write may have come through names the end itself
 * among them: then the config is unchanged when it has.
 */
export const moveClose = (
  sessionId: SessionId,
  jobId: string,
  from: ReadonlyArray<CloseState>,
  to: Move,
  at: string
) =>
(config: TeamConfig): Either.Either<TeamConfig, JobChanged | ConfigRefused> => {
  const agent = agentBySession(config, sessionId)
  const job = agent?.closeJob
  if (agent === undefined || job === undefined || job.jobId !== jobId || !from.includes(job.state)) {
    return Either.left(new JobChanged())
  }
  if (!mayBecome(job.state, to.state)) {
    return job.state === to.state && job.reason === to.reason ? Either.right(config) : Either.left(new JobChanged())
  }
  return withEntry(config, agent, {
    ...agent,
    ...(to.handoff === undefined ? {} : { handoff: to.handoff }),
    closeJob: {
      ...job,
      state: to.state,
      updatedAt: at,
      ...(to.reason === undefined ? {} : { reason: to.reason })
    }
  })
}

/**
 * What a job that nobody runs any more comes to (spec 6.2, orphans): `uncertain` when its close command may have been
 * given, because `closing` is on disk or the ledger names it; then also from a state that the table lets go elsewhere
 * only, since the file may have been restored from an older one.
 */
export const orphaned = (job: CloseJob, named: boolean): Move => ({
  state: job.state === "closing" || named ? "uncertain" : "interrupted",
  reason: "interrupted"
})

/** The config with some entries' jobs settled; those that are not as they were seen stay. */
export const settleAll = (
  moves: ReadonlyMap<SessionId, { readonly seen: CloseJob; readonly to: Move }>,
  at: string
) =>
(config: TeamConfig): Either.Either<TeamConfig, ConfigRefused> => {
  let changed = false
  const agents = config.agents.map((agent) => {
    const move = moves.get(agent.sessionId)
    const job = agent.closeJob
    if (move === undefined || job?.jobId !== move.seen.jobId || job.state !== move.seen.state) return agent
    changed = true
    const { reason, state } = move.to
    return { ...agent, closeJob: { ...job, state, updatedAt: at, ...(reason === undefined ? {} : { reason }) } }
  })
  return changed ? proposeConfig(config, { agents }) : Either.right(config)
}
