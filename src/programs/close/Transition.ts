import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { type Move, moveClose } from "../../domain/CloseChanges.ts"
import type { CloseJob, CloseState } from "../../domain/CloseTable.ts"
import { type Agent, agentBySession } from "../../domain/TeamConfig.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
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

/** The file is another session's, or says another thing than this job left there. */
const left = () => Effect.succeed(undefined)

/** Writes one transition, compared and set, and records it; none when the file is somebody else's: then nothing is written. */
export const writeMove = Effect.fn("close.writeMove")(
  function*(root: string, { sessionId }: Agent, jobId: string, from: ReadonlyArray<CloseState>, to: Move) {
    const scope = yield* SessionScope
    const at = DateTime.formatIso(yield* DateTime.now)
    const config = yield* (yield* ConfigStore).update(
      root,
      scope.sessionId,
      scope.guard,
      moveClose(sessionId, jobId, from, to, at)
    ).pipe(Effect.catchTags({
      JobChanged: left,
      SessionReplaced: left,
      ConfigNotWritten: (error) =>
        error.reason === "not_coordinator" || error.reason === "absent" ? left() : Effect.fail(error)
    }))
    const agent = config && agentBySession(config, sessionId)
    if (agent?.closeJob === undefined) return undefined
    const settled: Settled = { agent, job: agent.closeJob }
    yield* recordTransition(settled)
    return settled
  }
)
