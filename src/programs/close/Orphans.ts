import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Move, orphaned, settleAll } from "../../domain/CloseChanges.ts"
import { type CloseJob, isPending } from "../../domain/CloseTable.ts"
import { jobOf, type Ledger } from "../../domain/Ledger.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import type { Agent } from "../../domain/TeamConfig.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { recordTransition, type Settled } from "./Transition.ts"

type Moves = ReadonlyMap<SessionId, { readonly seen: CloseJob; readonly to: Move }>

/** The entries with a job, as the file has them now. */
const jobsOf = Effect.fn("close.jobsOf")(function*(root: string, wanted: (agent: Agent) => boolean) {
  const config = yield* (yield* ConfigReader).read(root)
  return Option.match(config, { onNone: () => [], onSome: ({ agents }) => agents }).flatMap((agent) =>
    agent.closeJob !== undefined && wanted(agent) ? [{ agent, job: agent.closeJob }] : []
  )
})

const write = Effect.fn("close.settle")(function*(root: string, moves: Moves) {
  if (moves.size === 0) return []
  const { guard, sessionId } = yield* SessionScope
  const at = DateTime.formatIso(yield* DateTime.now)
  const config = yield* (yield* ConfigStore).update(root, sessionId, guard, settleAll(moves, at))
  const settled = config.agents.flatMap((agent): ReadonlyArray<Settled> => {
    const move = moves.get(agent.sessionId)
    const job = agent.closeJob
    return move !== undefined && job?.jobId === move.seen.jobId && job.updatedAt === at ? [{ agent, job }] : []
  })
  yield* Effect.forEach(settled, recordTransition, { discard: true })
  return settled
})

/** The uncertain job is closed once the process that the ledger has for it is proven gone; its reason stays. */
const proven = Effect.fn("close.proven")(function*(ledger: Ledger, { job }: Settled) {
  const process = jobOf(ledger, job.jobId)
  return process !== undefined && (yield* (yield* ProcessIdentity).look(process)) === "gone"
})

/**
 * Settles the jobs of the `wanted` workers that nobody runs (spec 6.2, orphans and uncertain): pending ones first, then
 * uncertain ones whose process is proven gone. Sends nothing, replays nothing. Answers those that changed, once each.
 */
export const settleOrphans = Effect.fn("close.settleOrphans")(
  function*(root: string, wanted: (agent: Agent) => boolean) {
    const unsettled = (yield* jobsOf(root, wanted)).filter(({ job }) =>
      isPending(job.state) || job.state === "uncertain"
    )
    if (unsettled.length === 0) return []
    const ledger = yield* (yield* ProcessLedger).read(root)
    const orphans: Moves = new Map(
      unsettled.filter(({ job }) => isPending(job.state)).map(({ agent, job }) => [
        agent.sessionId,
        { seen: job, to: orphaned(job, jobOf(ledger, job.jobId) !== undefined) }
      ])
    )
    const first = yield* write(root, orphans)
    const uncertain = [...first, ...unsettled].filter(({ job }) => job.state === "uncertain")
    const gone = yield* Effect.filter(uncertain, (one) => proven(ledger, one))
    const closed = yield* write(
      root,
      new Map(gone.map(({ agent, job }) => [agent.sessionId, { seen: job, to: { state: "closed" as const } }]))
    )
    const later = new Set(closed.map(({ agent }) => agent.sessionId))
    return [...first.filter(({ agent }) => !later.has(agent.sessionId)), ...closed]
  }
)
