import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import { type Move, requestClose } from "../../domain/CloseChanges.ts"
import { refusal, type WorkerMessage } from "../../domain/CloseConversation.ts"
import { closeNotice } from "../../domain/CloseNotice.ts"
import { type CloseJob, isFinal } from "../../domain/CloseTable.ts"
import type { ConfigRefused, StateUnusable } from "../../domain/ConfigErrors.ts"
import { endJobs } from "../../domain/Ledger.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import { type Agent, agentBySession, type TeamConfig } from "../../domain/TeamConfig.ts"
import type { ConfigReader } from "../../services/ConfigReader.ts"
import { ConfigStore, type UpdateFailed } from "../../services/ConfigStore.ts"
import { HostSession } from "../../services/HostSession.ts"
import { Ids } from "../../services/Ids.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { SavedSessions } from "../../services/SavedSessions.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { Delivery } from "../Delivery.ts"
import { type Member, Membership } from "../Membership.ts"
import { refused } from "../receive/Context.ts"
import { makeDeadline } from "./Deadline.ts"
import { type Ending, type Item, runJob, type RunningJob, writeMove } from "./Job.ts"
import { settleOrphans } from "./Orphans.ts"

/** A worker's job as this session has it in memory: from then on, and until it is settled on disk, it is fenced here. */
type Held =
  | { readonly _tag: "Starting" }
  | { readonly _tag: "Running"; readonly running: RunningJob }
  /** It has decided, and what it came to is being written. */
  | { readonly _tag: "Ending" }
  /** What it came to could not be written (spec 6.2, orphans). */
  | { readonly _tag: "Unsaved"; readonly running: RunningJob; readonly ending: Exclude<Ending, "left"> }

/** Why a job could not be settled: then its worker stays fenced. */
export type Unsettled = UpdateFailed | StateUnusable | ConfigRefused

const unsupported = new Refused({
  reason: "not_supported",
  sentence:
    "Nothing was asked of the worker: closing works on Linux, in a session that runs inside Herdr or tmux, whose " +
    "panes can be told apart. Ask the person to quit that worker's Pi instead."
})
const over = refused(refusal("interrupted", "the coordinator does not run this close job any more"))
const ended = refused(refusal("timeout", "this close has ended"))

/** The close jobs that this session, the coordinator, runs; each is one fiber of the session (spec 6). */
export class CloseJobs extends Context.Tag("pi-intercom/CloseJobs")<CloseJobs, {
  /**
   * Begins to close a worker whose entry was looked at; answers its job at once, and the one that runs already when
   * there is one. Refused with nothing asked of it when it is fenced, changed, or 16 are pending.
   */
  readonly request: (
    standing: Member,
    worker: Agent,
    timeoutSeconds: number
  ) => Effect.Effect<CloseJob, Refused | Unsettled>
  /** A message of a job's worker; waits until its job has decided about it. */
  readonly receive: (message: WorkerMessage, commit: Commit) => Effect.Effect<void, Refusal>
  /** Whether this session holds a job of that worker, for the close fence: a plain look, for commit points. */
  readonly isHeld: (sessionId: SessionId) => boolean
  /**
   * Settles what can be of a worker's job: a final state that could not be written, a job that nobody runs, an uncertain
   * one whose process is gone by now. Answers its entry as it is then. Fails when it could not be written.
   */
  readonly meet: (root: string, worker: Agent) => Effect.Effect<Agent, Unsettled>
  /** The same for the whole team, at a start or a take-over; tells the person at once, and the model in its next run. */
  readonly settleAll: (root: string) => Effect.Effect<void>
  /** Tells the model, in a run that has begun, what was settled before it. */
  readonly tellOwed: Effect.Effect<void>
  /** Records what the person saw of an uncertain job; false when it was settled otherwise meanwhile. */
  readonly settleByHand: (root: string, worker: Agent, job: CloseJob, to: Move) => Effect.Effect<boolean, Unsettled>
}>() {
  static readonly layer = Layer.effect(
    CloseJobs,
    Effect.gen(function*() {
      const context = yield* Effect.context<
        | ConfigReader
        | ConfigStore
        | Ids
        | IntercomClient
        | Membership
        | ObservationLog
        | ProcessIdentity
        | ProcessLedger
        | SavedSessions
        | SessionScope
      >()
      const delivery = yield* Delivery
      const host = yield* HostSession
      const ids = yield* Ids
      const ledger = yield* ProcessLedger
      const multiplexers = yield* Multiplexers
      const scope = yield* SessionScope
      const store = yield* ConfigStore
      const held = new Map<SessionId, Held>()
      const owed = yield* Ref.make<ReadonlyArray<readonly [Agent, CloseJob]>>([])
      /** Beginning and settling, one at a time: whoever comes second looks again. */
      const turn = yield* Effect.makeSemaphore(1)

      const tell = Effect.fn("CloseJobs.tell")(function*(worker: Agent, job: CloseJob) {
        yield* delivery.deliver(
          "close notice",
          { name: worker.name, sessionId: worker.sessionId },
          closeNotice(worker, job),
          (act) => act
        ).pipe(
          Effect.catchAll(() =>
            host.notify(`Intercom: the model could not be told of a close. ${closeNotice(worker, job)}`, "warning")
          )
        )
      })

      /** A final job's process needs no name any more: nothing is proven of it. */
      const forget = (root: string, jobs: ReadonlyArray<CloseJob>) => {
        const finals = jobs.filter(({ state }) => isFinal(state)).map(({ jobId }) => jobId)
        return finals.length === 0 ? Effect.void : ledger.change(root, endJobs(finals)).pipe(
          Effect.catchAll((failed) => Effect.logWarning(failed.message))
        )
      }

      const jobIn = (config: TeamConfig, sessionId: SessionId) => {
        const agent = agentBySession(config, sessionId)
        return agent?.closeJob === undefined ? undefined : { agent, job: agent.closeJob }
      }

      /** Writes how a job ends and forgets it; what could not be written stays fenced here. */
      const save = Effect.fn("CloseJobs.save")(function*(running: RunningJob, ending: Exclude<Ending, "left">) {
        const { job: { jobId }, root, worker } = running
        const written = yield* writeMove(root, worker, jobId, ending.from, ending.to).pipe(
          Effect.tapError(() => Effect.sync(() => held.set(worker.sessionId, { _tag: "Unsaved", running, ending })))
        )
        held.delete(worker.sessionId)
        const saved = written && jobIn(written, worker.sessionId)
        if (saved !== undefined) yield* forget(root, [saved.job])
        return saved
      })

      const refuseWaiting = (running: RunningJob) =>
        Effect.flatMap(
          Queue.takeAll(running.inbox),
          Effect.forEach((item) => item._tag === "Arrival" ? Deferred.fail(item.answer, ended) : Effect.void)
        )

      const finish = Effect.fn("CloseJobs.finish")(function*(running: RunningJob, ending: Ending) {
        const { worker } = running
        held.set(worker.sessionId, { _tag: "Ending" })
        yield* refuseWaiting(running)
        if (ending === "left") {
          held.delete(worker.sessionId)
          return
        }
        const now = DateTime.formatIso(yield* DateTime.now)
        const saved = yield* save(running, ending).pipe(
          Effect.catchAll((failed) =>
            Effect.as(
              host.notify(
                `Intercom: how the close of ${worker.name} ended could not be saved. ${failed.message}`,
                "warning"
              ),
              { agent: worker, job: { ...running.job, ...ending.to, updatedAt: now } }
            )
          )
        )
        if (saved !== undefined) yield* tell(saved.agent, saved.job)
      })

      const run = (running: RunningJob) =>
        runJob(running).pipe(
          Effect.flatMap((ending) => finish(running, ending)),
          // A bug: what is left on disk is a job that nobody runs.
          Effect.tapErrorCause((cause) => Effect.logError("a close job died", cause)),
          Effect.onError(() => Effect.sync(() => void held.delete(running.worker.sessionId))),
          Effect.provide(context)
        )

      const saveAgain = (sessionId: SessionId) =>
        Effect.suspend(() => {
          const one = held.get(sessionId)
          return one?._tag === "Unsaved" ? Effect.asVoid(save(one.running, one.ending)) : Effect.void
        })

      /** Settles the jobs of those workers, or of all, that no fiber of this session runs. */
      const settle = Effect.fn("CloseJobs.settle")(function*(root: string, only: SessionId | undefined) {
        for (const sessionId of only === undefined ? [...held.keys()] : [only]) yield* saveAgain(sessionId)
        const settled = yield* settleOrphans(
          root,
          (agent) => (only === undefined || agent.sessionId === only) && !held.has(agent.sessionId)
        )
        yield* forget(root, settled.map(({ job }) => job))
        return settled
      }, Effect.provide(context))

      const request = Effect.fn("CloseJobs.request")(
        function*(standing: Member, worker: Agent, timeoutSeconds: number) {
          const { root } = standing
          const { sessionId } = worker
          const multiplexer = Option.filter(multiplexers.own, ({ canClose }) => canClose)
          if (Option.isNone(multiplexer)) return yield* unsupported
          const own = held.get(sessionId)
          if (own?._tag === "Running") {
            return worker.closeJob?.jobId === own.running.job.jobId ? worker.closeJob : own.running.job
          }
          for (const { agent, job } of yield* settle(root, sessionId)) yield* scope.fork(tell(agent, job))
          const now = yield* Clock.currentTimeMillis
          const at = DateTime.formatIso(DateTime.unsafeMake(now))
          const until = now + timeoutSeconds * 1_000
          const job: CloseJob = {
            jobId: yield* ids.uuid,
            state: "requested",
            createdAt: at,
            updatedAt: at,
            deadlineAt: DateTime.formatIso(DateTime.unsafeMake(until))
          }
          const deadline = yield* makeDeadline(until)
          held.set(sessionId, { _tag: "Starting" })
          yield* store.update(root, scope.sessionId, scope.guard, requestClose(worker, job, now)).pipe(
            Effect.tapErrorCause(() => Effect.sync(() => held.delete(sessionId)))
          )
          const inbox = yield* Queue.unbounded<Item>()
          const running: RunningJob = { root, worker, job, deadline, multiplexer: multiplexer.value, inbox }
          held.set(sessionId, { _tag: "Running", running })
          yield* scope.fork(run(running))
          return job
        },
        // What is on disk is run: an interruption between the two would leave a job that nobody runs.
        Effect.uninterruptible,
        turn.withPermits(1)
      )

      const settledAs = (only: SessionId, settled: ReadonlyArray<{ readonly agent: Agent }>) =>
        settled.find(({ agent }) => agent.sessionId === only)?.agent

      const meet = Effect.fn("CloseJobs.meet")(function*(root: string, worker: Agent) {
        const idle = worker.closeJob === undefined || isFinal(worker.closeJob.state)
        if (idle && held.get(worker.sessionId)?._tag !== "Unsaved") return worker
        const settled = yield* settle(root, worker.sessionId)
        for (const { agent, job } of settled) yield* scope.fork(tell(agent, job))
        return settledAs(worker.sessionId, settled) ?? worker
      }, turn.withPermits(1))

      return {
        request,
        meet,
        settleByHand: Effect.fn("CloseJobs.settleByHand")(
          function*(root: string, worker: Agent, job: CloseJob, to: Move) {
            const written = yield* writeMove(root, worker, job.jobId, ["uncertain"], to)
            const settled = written && jobIn(written, worker.sessionId)
            if (settled === undefined) return false
            yield* forget(root, [settled.job])
            yield* scope.fork(tell(settled.agent, settled.job))
            return true
          },
          turn.withPermits(1),
          Effect.provide(context)
        ),
        isHeld: (sessionId) => held.has(sessionId),
        receive: (message, commit) =>
          Effect.gen(function*() {
            const answer = yield* Deferred.make<void, Refusal>()
            const one = held.get(message.from)
            if (one?._tag !== "Running" || one.running.job.jobId !== message.payload.jobId) {
              return yield* Effect.fail(over)
            }
            one.running.inbox.unsafeOffer({ _tag: "Arrival", message, commit, answer })
            yield* Deferred.await(answer)
          }),
        settleAll: Effect.fn("CloseJobs.settleAll")(
          function*(root: string) {
            const settled = yield* settle(root, undefined)
            for (const { agent, job } of settled) {
              yield* host.notify(`Intercom: ${closeNotice(agent, job)}`, job.state === "closed" ? "info" : "warning")
            }
            yield* Ref.update(owed, (waiting) => [
              ...waiting,
              ...settled.map(({ agent, job }) => [agent, job] as const)
            ])
          },
          turn.withPermits(1),
          Effect.catchAll((failed) =>
            host.notify(`Intercom: closes that were under way could not be settled. ${failed.message}`, "warning")
          )
        ),
        tellOwed: Effect.flatMap(
          Ref.getAndSet(owed, []),
          Effect.forEach(([agent, job]) => scope.fork(tell(agent, job)), { discard: true })
        )
      }
    })
  )
}
