import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Move, moveClose } from "../../domain/CloseChanges.ts"
import type { CloseJob, CloseState } from "../../domain/CloseTable.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { type Agent, agentBySession, type TeamConfig } from "../../domain/TeamConfig.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import { ConfigStore, type UpdateFailed } from "../../services/ConfigStore.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { SessionScope } from "../../services/SessionScope.ts"

/** A job as it is on disk now, and its worker's entry with it. */
export interface Settled {
  readonly agent: Agent
  readonly job: CloseJob
}

/** Records where a job is now (spec 7.1). */
export const recordTransition = Effect.fn("close.record")(function*({ agent, job }: Settled) {
  yield* (yield* ObservationLog).record({
    event: "close.transition",
    peerSessionId: agent.sessionId,
    correlationId: job.jobId,
    outcome: job.state,
    ...(job.reason === undefined ? {} : { detail: job.reason })
  })
})

/** What a session has written of some workers' jobs: the job, the state that it came to, and when. */
type Written = ReadonlyMap<SessionId, { readonly jobId: string; readonly state: CloseState }>

/** Those entries of `config` that carry what was written at `at`. */
export const settledIn = (config: TeamConfig, written: Written, at: string): ReadonlyArray<Settled> =>
  config.agents.flatMap((agent) => {
    const to = written.get(agent.sessionId)
    const job = agent.closeJob
    const is = to !== undefined && job?.jobId === to.jobId && job.state === to.state && job.updatedAt === at
    return is ? [{ agent, job }] : []
  })

/**
 * A write that failed may have come through all the same, as a rename on a network file system can: then it is taken
 * for written, so that what is on disk is also told. Else the failure stands.
 */
export const orCameThrough =
  (root: string, written: Written, at: string) => <E, R>(update: Effect.Effect<TeamConfig, E | UpdateFailed, R>) =>
    Effect.catchTag(
      update,
      "ConfigNotWritten",
      (failed) =>
        Effect.flatMap(ConfigReader, (reader) => reader.read(root)).pipe(
          Effect.orElseSucceed(Option.none<TeamConfig>),
          Effect.map(Option.filter((now) => settledIn(now, written, at).length > 0)),
          Effect.flatMap(Option.match({ onNone: () => Effect.fail(failed), onSome: Effect.succeed }))
        )
    )

/** The file is another session's, or says another thing than this job left there. */
const left = () => Effect.succeed(undefined)

/** Writes one transition, compared and set, and records it; none when the file is somebody else's: then nothing is written. */
export const writeMove = Effect.fn("close.writeMove")(
  function*(root: string, { sessionId }: Agent, jobId: string, from: ReadonlyArray<CloseState>, to: Move) {
    const scope = yield* SessionScope
    const at = DateTime.formatIso(yield* DateTime.now)
    const written: Written = new Map([[sessionId, { jobId, state: to.state }]])
    const config = yield* (yield* ConfigStore).update(
      root,
      scope.sessionId,
      scope.guard,
      moveClose(sessionId, jobId, from, to, at)
    ).pipe(
      orCameThrough(root, written, at),
      Effect.catchTags({
        JobChanged: left,
        SessionReplaced: left,
        ConfigNotWritten: (error) =>
          error.reason === "not_coordinator" || error.reason === "absent" ? left() : Effect.fail(error)
      })
    )
    const agent = config && agentBySession(config, sessionId)
    if (agent?.closeJob === undefined) return undefined
    const settled: Settled = { agent, job: agent.closeJob }
    yield* recordTransition(settled)
    return settled
  }
)
