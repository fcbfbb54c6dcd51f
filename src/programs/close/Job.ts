import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberHandle from "effect/FiberHandle"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { Move } from "../../domain/CloseChanges.ts"
import { type Conversation, judge, type WorkerMessage } from "../../domain/CloseConversation.ts"
import { type CloseJob, CloseReason, type CloseState } from "../../domain/CloseTable.ts"
import type { EnvelopeOf, PaneIdentity } from "../../domain/Envelope.ts"
import { addJob } from "../../domain/Ledger.ts"
import { IdentityFailed } from "../../domain/Pane.ts"
import type { VerifiedPane } from "../../domain/PaneClosing.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import { type Agent, agentBySession } from "../../domain/TeamConfig.ts"
import { OutcomeUnknown, Rejected } from "../../domain/WireErrors.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import type { ConfigStore } from "../../services/ConfigStore.ts"
import type { Ids } from "../../services/Ids.ts"
import type { IntercomClient } from "../../services/IntercomClient.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"
import type { ObservationLog } from "../../services/ObservationLog.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { SavedSessions } from "../../services/SavedSessions.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import type { Membership } from "../Membership.ts"
import { post } from "../Post.ts"
import { refused } from "../receive/Context.ts"
import { type Deadline, within } from "./Deadline.ts"
import { closePane } from "./Pane.ts"
import { type Sent, untilDecided } from "./Repeat.ts"
import { writeMove } from "./Transition.ts"

type Kind = "close_prepare" | "close_request" | "close_commit"

/** A message of the worker that waits to be answered; nobody is dropped because the job is busy. */
export interface Arrival {
  readonly _tag: "Arrival"
  readonly message: WorkerMessage
  readonly commit: Commit
  readonly answer: Deferred.Deferred<void, Refusal>
}

/** What a job's fiber takes from its inbox, one at a time. */
export type Item =
  | Arrival
  | { readonly _tag: "Sent"; readonly kind: Kind; readonly outcome: Sent }
  | { readonly _tag: "Deadline" }

/** One close job that this session runs. */
export interface RunningJob {
  readonly root: string
  /** The worker's entry when the job was asked for. */
  readonly worker: Agent
  readonly job: CloseJob
  readonly deadline: Deadline
  readonly multiplexer: Multiplexer
  readonly inbox: Queue.Queue<Item>
}

/** How a job ends: what is to be written, and the states that may be on disk; `left` when the file is somebody else's. */
export type Ending = { readonly from: ReadonlyArray<CloseState>; readonly to: Move } | "left"

/** Where a job is: what was said, what is on disk, and the pane that was verified last. */
interface Progress {
  readonly conversation: Conversation
  readonly disk: CloseState
  readonly identity?: PaneIdentity
  readonly pane?: VerifiedPane
}

const timedOut: Move = { state: "timed_out", reason: "timeout" }
const failed = (reason: CloseReason): Move => ({ state: "failed", reason })
/** What is being sent while the conversation is there. */
const awaited: Readonly<Record<Conversation["_tag"], Kind | undefined>> = {
  Requested: "close_prepare",
  Identified: "close_request",
  Reported: undefined,
  Ready: "close_commit"
}
const unsaved = (ending: Ending): Refusal =>
  refused(
    new Refused({
      reason: "changed",
      // A write that failed may have come through all the same.
      sentence: "it is not known whether the handoff is saved, and the close has ended",
      code: (ending === "left" ? undefined : ending.to.reason) ?? "interrupted"
    })
  )
const isReason = (code: string | undefined): code is CloseReason => CloseReason.literals.some((one) => one === code)

type Needs =
  | ConfigStore
  | Ids
  | IntercomClient
  | Membership
  | ObservationLog
  | ProcessIdentity
  | Scope.Scope
  | SessionScope

/** The worker's word that nothing has begun there is good for this long; an older one is asked for again. */
const freshFor = Duration.seconds(1)
const notOld = <E, R>(commit: Effect.Effect<void, E, R>) =>
  Effect.flatMap(
    Effect.timed(commit),
    ([age]) => Duration.greaterThan(age, freshFor) ? new OutcomeUnknown({ reason: "deadline" }) : Effect.void
  )

/**
 * Runs a job from `requested` on: asks, listens, verifies, closes (spec 6.2). One item of its inbox after another; its
 * sends go on meanwhile, one at a time. Answers how it ends, which the caller writes.
 */
export const runJob = Effect.fn("close.runJob")(function*(running: RunningJob) {
  const { deadline, inbox, job, multiplexer, root, worker } = running
  const { jobId } = job
  const { guard, sessionId } = yield* SessionScope
  const processes = yield* ProcessIdentity
  const ledger = yield* ProcessLedger
  const sessions = yield* SavedSessions
  const reader = yield* ConfigReader
  const sending = yield* FiberHandle.make()

  const end = (progress: Progress, to: Move, attempted?: CloseState): Ending => ({
    from: attempted === undefined ? [progress.disk] : [progress.disk, attempted],
    to
  })

  /** The worker where the file has it now (spec 2.4). */
  const recipient = Effect.map(Effect.option(reader.read(root)), (config) =>
    Option.match(Option.flatten(config), {
      onNone: () => worker,
      onSome: (now) => agentBySession(now, worker.sessionId) ?? worker
    }))

  const send = (kind: Kind, readyNonce: string, instanceId: string) => {
    const payload = { jobId, instanceId }
    const once = Effect.flatMap(recipient, (to) =>
      post({ root }, to, (head) => {
        switch (kind) {
          case "close_prepare":
            return { ...head, kind, payload: { jobId, deadlineAt: job.deadlineAt } }
          case "close_request":
            return { ...head, kind, payload }
          case "close_commit":
            return { ...head, kind, payload: { ...payload, readyNonce } }
        }
      }))
    const sent = kind === "close_commit" ? notOld(once) : once
    return FiberHandle.run(
      sending,
      untilDecided(sent, deadline, kind === "close_prepare" ? 2 : undefined).pipe(
        Effect.flatMap((outcome) => Queue.offer(inbox, { _tag: "Sent", kind, outcome }))
      )
    )
  }
  /** The peer's next message shows that ours arrived (spec 6.2, idempotence). */
  const stopSending = FiberHandle.clear(sending)

  /** One transition: where the job is then, or how it ends. */
  const move = (progress: Progress, to: Move, next: Partial<Progress> = {}) =>
    within(deadline, Effect.either(writeMove(root, worker, jobId, [progress.disk], to))).pipe(
      Effect.map((written): Either.Either<Progress, Ending> =>
        written === "deadline"
          ? Either.left(end(progress, timedOut, to.state))
          : Either.isLeft(written)
          ? Either.left(end(progress, failed("save_failed"), to.state))
          : written.right === undefined
          ? Either.left("left")
          : Either.right({ ...progress, ...next, disk: to.state })
      )
    )

  /** The whole of spec 6.3, and the session's header; a file that is not there yet is accepted at the first time only. */
  const verify = (progress: Progress, identity: PaneIdentity, first: boolean) =>
    within(
      deadline,
      Effect.either(Effect.gen(function*() {
        const header = yield* sessions.header(identity.sessionFile, worker.sessionId)
        if (header === "wrong" || (header === "absent" && !first)) {
          return yield* new IdentityFailed({ detail: "its session file does not carry its id" })
        }
        return yield* multiplexer.verify(identity, sessionId)
      }))
    ).pipe(
      Effect.map((verified): Either.Either<VerifiedPane, Ending> =>
        verified === "deadline"
          ? Either.left(end(progress, timedOut))
          : Either.mapLeft(verified, () => end(progress, failed("identity_failed")))
      )
    )

  const identified = (progress: Progress, { instanceId, identity }: EnvelopeOf<"close_identity">["payload"]) =>
    Effect.gen(function*() {
      yield* yield* verify(progress, identity, true)
      const next = yield* yield* move(progress, { state: "awaiting_handoff" }, { identity })
      yield* send("close_request", "", instanceId)
      return next
    })

  const ready = (progress: Progress, { instanceId, readyNonce }: EnvelopeOf<"close_ready">["payload"]) =>
    Effect.gen(function*() {
      const { identity } = progress
      if (identity === undefined) return yield* Effect.dieMessage("a worker is ready only after it was identified")
      const process = { ...processes.own, pid: identity.pid, startTicks: identity.processStart }
      const named = yield* within(deadline, Effect.either(ledger.change(root, addJob(jobId, process))))
      if (named === "deadline") return yield* Effect.fail(end(progress, timedOut))
      if (Either.isLeft(named)) return yield* Effect.fail(end(progress, failed("save_failed")))
      const closing = yield* yield* move(progress, { state: "closing" })
      const pane = yield* yield* verify(closing, identity, false)
      yield* send("close_commit", readyNonce, instanceId)
      return { ...closing, pane }
    })

  const report = (progress: Progress, { summary }: EnvelopeOf<"handoff_report">["payload"]) =>
    Effect.gen(function*() {
      const updatedAt = DateTime.formatIso(yield* DateTime.now)
      const handoff = { version: 1, jobId, summary, updatedAt } as const
      return yield* yield* move(progress, { state: "awaiting_settlement", handoff })
    })

  const arrived = (progress: Progress, { answer, commit, message }: Arrival): Effect.Effect<Progress, Ending, Needs> =>
    Effect.gen(function*() {
      const verdict = judge(progress.conversation, message)
      if (verdict._tag === "Refuse") {
        yield* Deferred.fail(answer, refused(verdict.refused))
        return progress
      }
      // The sender may have been told meanwhile that nothing was decided: then nothing is.
      if (Either.isLeft(yield* Effect.either(commit(Effect.void)))) return progress
      const accepted = Deferred.succeed(answer, undefined)
      if (verdict._tag === "Repeat") {
        yield* accepted
        return progress
      }
      yield* stopSending
      const next = { ...progress, conversation: verdict.next }
      switch (message.kind) {
        case "close_identity":
          yield* accepted
          return yield* identified(next, message.payload)
        case "handoff_report":
          return yield* report(next, message.payload).pipe(
            Effect.tapBoth({
              onSuccess: () => accepted,
              onFailure: (ending) => Deferred.fail(answer, unsaved(ending))
            })
          )
        case "close_ready":
          yield* accepted
          return yield* ready(next, message.payload)
      }
    })

  const sent = (progress: Progress, kind: Kind, outcome: Sent): Effect.Effect<Progress, Ending, Needs> => {
    // The peer's next message says more than how the sending of what it answers ended.
    if (kind !== awaited[progress.conversation._tag]) return Effect.succeed(progress)
    if (outcome === "deadline") return Effect.fail(end(progress, timedOut))
    if (outcome === "undelivered") return Effect.fail(end(progress, failed("delivery_failed")))
    if (outcome instanceof Rejected) {
      const reason = kind === "close_commit"
        ? "commit_rejected"
        : kind === "close_request"
        ? "worker_changed"
        : isReason(outcome.code)
        ? outcome.code
        : "delivery_failed"
      return Effect.fail(end(progress, failed(reason)))
    }
    const { identity, pane } = progress
    if (identity === undefined || pane === undefined) return Effect.succeed(progress)
    return Effect.flatMap(
      closePane({ deadline, fence: guard, multiplexer, pane, identity }),
      (to) => Effect.fail(to === "left" ? to : end(progress, to))
    )
  }

  const listen = (progress: Progress): Effect.Effect<never, Ending, Needs> =>
    Effect.flatMap(Queue.take(inbox), (item) => {
      switch (item._tag) {
        case "Deadline":
          return Effect.fail(end(progress, timedOut))
        case "Sent":
          return Effect.flatMap(sent(progress, item.kind, item.outcome), listen)
        case "Arrival":
          return Effect.flatMap(arrived(progress, item), listen)
      }
    })

  yield* Effect.forkScoped(Effect.zipRight(deadline.reached, Queue.offer(inbox, { _tag: "Deadline" })))
  yield* send("close_prepare", "", "")
  return yield* Effect.flip(listen({ conversation: { _tag: "Requested" }, disk: "requested" }))
}, Effect.scoped)
