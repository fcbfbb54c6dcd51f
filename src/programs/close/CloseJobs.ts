import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
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
import type { Agent } from "../../domain/TeamConfig.ts"
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
import { type Ending, type Item, runJob, type RunningJob } from "./Job.ts"
import { settleOrphans } from "./Orphans.ts"
import { type Settled, writeMove } from "./Transition.ts"

/** A worker's job as this session has it in memory: from then on, and until it is settled on disk, it is fenced here. */
type Held =
  | { readonly _tag: "Starting" }
  | { readonly _tag: "Running"; readonly running: RunningJob }
  /** It has decided, and what it came to is being written. */
  | { readonly _tag: "Ending"; readonly running: RunningJob }
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
      const owed = yield* Ref.make<ReadonlyArray<Settled>>([])
      /** Beginning and settling, one at a time: whoever comes second looks again. */
      const turn = yield* Effect.makeSemaphore(1)

      const tell = Effect.fn("CloseJobs.tell")(function*({ agent, job }: Settled) {
        const text = closeNotice(agent, job)
        yield* delivery.deliver("close notice", { name: agent.name, sessionId: agent.sessionId }, text, (act) => act)
          .pipe(
            Effect.catchAll(() => host.notify(`Intercom: the model could not be told of a close. ${text}`, "warning"))
          )
      })

      /** A final job's process needs no name any more: nothing is proven of it. */
      const forget = (root: string, jobs: ReadonlyArray<CloseJob>) => {
        const finals = jobs.filter(({ state }) => isFinal(state)).map(({ jobId }) => jobId)
        return finals.length === 0 ? Effect.void : ledger.change(root, endJobs(finals)).pipe(
          Effect.catchAll((failed) => Effect.logWarning(failed.message))
        )
      }

      /** Writes how a job ends and forgets it; what could not be written stays fenced here. */
      const save = Effect.fn("CloseJobs.save")(function*(running: RunningJob, ending: Exclude<Ending, "left">) {
        const { job: { jobId }, root, worker } = running
        // A write that failed may have come through all the same.
        const saved = yield* writeMove(root, worker, jobId, [...ending.from, ending.to.state], ending.to).pipe(
          Effect.tapError(() => Effect.sync(() => held.set(worker.sessionId, { _tag: "Unsaved", running, ending })))
        )
        held.delete(worker.sessionId)
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
        held.set(worker.sessionId, { _tag: "Ending", running })
        yield* refuseWaiting(running)
        if (ending === "left") {
          held.delete(worker.sessionId)
          return
        }
        yield* save(running, ending).pipe(
          Effect.flatMap((saved) => saved === undefined ? Effect.void : tell(saved)),
          Effect.catchAll((failed) =>
            host.notify(
              `Intercom: how the close of ${worker.name} ended could not be saved, so it takes no work. ${failed.message} ` +
                "The next tool call that concerns it tries once more.",
              "warning"
            )
          )
        )
      })

      const run = (running: RunningJob) =>
        runJob(running).pipe(
          Effect.flatMap((ending) => finish(running, ending)),
          // A bug, or this session ends: what is left on disk is a job that nobody runs.
          Effect.onError((cause) => {
            held.delete(running.worker.sessionId)
            return Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("a close job died", cause)
          }),
          Effect.provide(context)
        )

      /** Tries once more to write what could not be written of these workers, or of all; answers what is on disk now. */
      const saveAgain = (only: SessionId | undefined) =>
        Effect.forEach(
          only === undefined ? [...held.keys()] : [only],
          (sessionId) => {
            const one = held.get(sessionId)
            return one?._tag === "Unsaved" ? save(one.running, one.ending) : Effect.succeed(undefined)
          }
        ).pipe(Effect.map(Arr.filter((saved) => saved !== undefined)))

      /** Settles the jobs of those workers, or of all, that no fiber of this session runs. */
      const settle = Effect.fn("CloseJobs.settle")(function*(root: string, only: SessionId | undefined) {
        const saved = yield* saveAgain(only)
        const settled = yield* settleOrphans(
          root,
          (agent) => (only === undefined || agent.sessionId === only) && !held.has(agent.sessionId)
        )
        yield* forget(root, settled.map(({ job }) => job))
        return [...saved, ...settled]
      }, Effect.provide(context))

      /** As {@link settle}, when the model wants something of a worker: it is told at once, and of all that was settled. */
      const settleNow = (root: string, only: SessionId | undefined) =>
        Effect.uninterruptible(Effect.tap(
          settle(root, only),
          Effect.forEach((one: Settled) => scope.fork(tell(one)), { discard: true })
        ))

      const request = Effect.fn("CloseJobs.request")(
        function*(standing: Member, worker: Agent, timeoutSeconds: number) {
          const { root } = standing
          const { sessionId } = worker
          const multiplexer = Option.filter(multiplexers.own, ({ canClose }) => canClose)
          if (Option.isNone(multiplexer)) return yield* unsupported
          const own = held.get(sessionId)
          if (own?._tag === "Running" || own?._tag === "Ending") {
            return worker.closeJob?.jobId === own.running.job.jobId ? worker.closeJob : own.running.job
          }
          // All: what nobody runs any more must not count among those under way.
          yield* settleNow(root, undefined)
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

      const meet = Effect.fn("CloseJobs.meet")(function*(root: string, worker: Agent) {
        const idle = worker.closeJob === undefined || isFinal(worker.closeJob.state)
        if (idle && held.get(worker.sessionId)?._tag !== "Unsaved") return worker
        const settled = yield* settleNow(root, worker.sessionId)
        return settled.at(-1)?.agent ?? worker
      }, turn.withPermits(1))

      return {
        request,
        meet,
        settleByHand: Effect.fn("CloseJobs.settleByHand")(
          function*(root: string, worker: Agent, job: CloseJob, to: Move) {
            const settled = yield* writeMove(root, worker, job.jobId, ["uncertain"], to)
            if (settled === undefined) return false
            yield* forget(root, [settled.job])
            yield* scope.fork(tell(settled))
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
            yield* Ref.update(owed, (waiting) => [...waiting, ...settled])
          },
          turn.withPermits(1),
          Effect.catchAll((failed) =>
            host.notify(`Intercom: closes that were under way could not be settled. ${failed.message}`, "warning")
          )
        ),
        tellOwed: Effect.flatMap(
          Ref.getAndSet(owed, []),
          Effect.forEach((one) => scope.fork(tell(one)), { discard: true })
        )
      }
    })
  )
}
