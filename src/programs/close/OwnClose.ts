import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type { Envelope, EnvelopeOf, Kind } from "../../domain/Envelope.ts"
import { askAgain, askForHandoff } from "../../domain/HandoffTexts.ts"
import { type NotTaken, Refused, SessionReplaced } from "../../domain/SessionErrors.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { Rejected, Undelivered } from "../../domain/WireErrors.ts"
import { HostSession } from "../../services/HostSession.ts"
import { HostWork } from "../../services/HostWork.ts"
import { Ids } from "../../services/Ids.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { Delivery } from "../Delivery.ts"
import { type Member, Membership } from "../Membership.ts"
import { post } from "../Post.ts"
import { notTaken, senderOf } from "../receive/Context.ts"
import type { ToolCall } from "../tools/ToolCall.ts"
import { makeDeadline, within } from "./Deadline.ts"
import { carries, notCommitted, notNow, notThisJob, type OwnJob, type Saved, tooFar, tooLate } from "./OwnJob.ts"
import { ownPane } from "./OwnPane.ts"
import { untilDecided } from "./Repeat.ts"

/** At most this far ahead may a deadline be (spec 6.2, message 1). */
const maxAheadMs = 600_000
/** How often what stands in the way for a moment is looked at again. */
const lookMs = 1_000

const noJob = new Refused({
  reason: "invalid",
  sentence: "No close with this job id asks this session for a handoff, or not any more, so nothing was reported."
})
const oneAtATime = new Refused({
  reason: "busy",
  sentence: "A handoff is being reported already, so this one was not sent. Wait for that call to end."
})
const notSaved = (why: string) => new Refused({ reason: "changed", sentence: `The handoff may not be saved: ${why}` })

/** What this session, a worker, does when its coordinator closes it (spec 6.2, right column). */
export class OwnClose extends Context.Tag("pi-intercom/OwnClose")<OwnClose, {
  readonly prepare: (
    standing: Member,
    envelope: EnvelopeOf<"close_prepare">,
    commit: Commit
  ) => Effect.Effect<void, Refusal>
  readonly request: (
    standing: Member,
    envelope: EnvelopeOf<"close_request">,
    commit: Commit
  ) => Effect.Effect<void, Refusal>
  readonly commit: (
    standing: Member,
    envelope: EnvelopeOf<"close_commit">,
    commit: Commit
  ) => Effect.Effect<void, Refusal>
  /** Reports the handoff and waits until it is saved; fails when it may not be. */
  readonly report: (
    standing: Member,
    args: ToolArguments<"intercom_report_handoff">,
    call: ToolCall
  ) => Effect.Effect<void, Refused>
}>() {
  static readonly layer = Layer.scoped(
    OwnClose,
    Effect.gen(function*() {
      const context = yield* Effect.context<Ids | IntercomClient | Membership | ObservationLog>()
      const delivery = yield* Delivery
      const host = yield* HostSession
      const ids = yield* Ids
      const membership = yield* Membership
      const identify = yield* ownPane
      const scope = yield* SessionScope
      const work = yield* HostWork
      const own = yield* Ref.make(Option.none<OwnJob>())
      const sending = yield* FiberHandle.make()
      /** Of messages that take their time, one at a time: a repeat finds what the first one did. */
      const turn = yield* Effect.makeSemaphore(1)
      /** New for each session start. */
      const instanceId = yield* ids.uuid

      const update = (jobId: string, change: (job: OwnJob) => OwnJob) =>
        Ref.update(own, Option.map((job) => job.jobId === jobId ? change(job) : job))

      const held = (jobId: string, instance: string) =>
        Effect.map(Ref.get(own), Option.filter((job) => job.jobId === jobId && instance === instanceId))

      /** The team as the file has it now. */
      const team = Effect.flatMap(
        membership.enter,
        ({ standing }) => standing.role === "solo" ? new SessionReplaced() : Effect.succeed(standing)
      )

      /** Where a job stands by the file as it is now, if that can be read. */
      const lookAt = ({ deadline, jobId }: OwnJob): Effect.Effect<"on" | "late" | "over" | "unknown"> =>
        Effect.zipWith(
          Effect.option(team),
          deadline.passed,
          (standing, passed) =>
            Option.isNone(standing) ? "unknown" : !carries(standing.value, jobId) ? "over" : passed ? "late" : "on"
        )

      /** Whether its text is still to be handed over after it was held: not for a close that is over. */
      const still = (job: OwnJob) => Effect.map(lookAt(job), (state) => state === "on" || state === "unknown")

      /** Sends to the coordinator as each attempt finds it (spec 2.4); a job that this session's entry no longer carries is over. */
      const send = <K extends Kind>(
        jobId: string,
        make: (head: Pick<Envelope, "version" | "from" | "to" | "correlationId">) => EnvelopeOf<K>
      ) =>
        Effect.mapError(team, () => new Undelivered({ reason: "unreachable" })).pipe(
          Effect.flatMap((standing) =>
            carries(standing, jobId)
              ? post(standing, standing.coordinator, make)
              : Effect.fail(new Rejected({ status: 400, sentence: "the close has ended" }))
          ),
          Effect.provide(context)
        )

      const prepare = Effect.fn("OwnClose.prepare")(
        function*(standing: Member, { payload }: EnvelopeOf<"close_prepare">, commit: Commit) {
          const { jobId } = payload
          if (!carries(standing, jobId)) return yield* Effect.fail(notThisJob)
          const ahead = Date.parse(payload.deadlineAt) - (yield* Clock.currentTimeMillis)
          if (ahead <= 0) return yield* Effect.fail(tooLate)
          if (ahead > maxAheadMs) return yield* Effect.fail(tooFar)
          if (Option.exists(yield* Ref.get(own), (job) => job.jobId === jobId)) return yield* commit(Effect.void)
          const deadline = yield* makeDeadline(Date.parse(payload.deadlineAt))
          const identity = yield* identify
          // Finding out took its time: the job must still be there.
          const now = yield* Effect.mapError(team, () => notNow)
          if (!carries(now, jobId)) return yield* Effect.fail(notThisJob)
          if (yield* deadline.passed) return yield* Effect.fail(tooLate)
          const tell = send(
            jobId,
            (head) => ({ ...head, kind: "close_identity", payload: { jobId, instanceId, identity } })
          )
          yield* commit(Effect.zipRight(
            Ref.set(own, Option.some({ jobId, deadline, asked: false, reports: 0, reporting: false })),
            FiberHandle.run(sending, Effect.interruptible(untilDecided(tell, deadline)))
          ))
        },
        turn.withPermits(1)
      )

      const request = Effect.fn("OwnClose.request")(
        function*(standing: Member, envelope: EnvelopeOf<"close_request">, commit: Commit) {
          const { jobId } = envelope.payload
          const job = yield* held(jobId, envelope.payload.instanceId)
          if (Option.isNone(job)) return yield* Effect.fail(notThisJob)
          if (yield* job.value.deadline.passed) return yield* Effect.fail(tooLate)
          if (job.value.asked) return yield* commit(Effect.void)
          // The coordinator's next message: our identity has arrived.
          yield* FiberHandle.clear(sending)
          yield* Effect.mapError(membership.askForHandoff(jobId), () => notNow)
          const asked = update(jobId, (one) => ({ ...one, asked: true }))
          const tell = (act: Effect.Effect<void, NotTaken>) =>
            Effect.flatMap(lookAt(job.value), (state): Effect.Effect<void, NotTaken | Refusal> => {
              switch (state) {
                case "on":
                  return Effect.zipRight(act, asked)
                case "late":
                  return Effect.fail(tooLate)
                case "over":
                  return Effect.fail(notThisJob)
                case "unknown":
                  return Effect.fail(notNow)
              }
            })
          yield* delivery.deliver(
            "close request",
            senderOf(standing, envelope.from),
            askForHandoff(jobId),
            (act) => commit(tell(act)),
            still(job.value)
          ).pipe(Effect.mapError(notTaken))
        },
        turn.withPermits(1)
      )

      const withoutReport = ({ ready: _, saved: __, ...job }: OwnJob): OwnJob => job

      /** Tells the model once that it may report again, while the close goes on. */
      const tellAgain = (job: OwnJob) =>
        Effect.gen(function*() {
          const found = yield* within(job.deadline, Effect.retry(team, Schedule.spaced(lookMs)))
          if (found === "deadline" || !(yield* still(job))) return
          const { name, sessionId } = found.coordinator
          yield* delivery.deliver(
            "close request",
            { name, sessionId },
            askAgain(job.jobId),
            (act) => Effect.flatMap(still(job), (goesOn) => goesOn ? act : Effect.void),
            still(job)
          )
        }).pipe(
          Effect.catchAll(() =>
            host.notify("Intercom: the model could not be told that it may report its handoff again.", "warning")
          )
        )

      /** A new epoch makes a saved report insufficient, unless its announcement was accepted: then it ends the job. */
      const invalidate = Effect.gen(function*() {
        const job = yield* Ref.get(own)
        if (Option.isNone(job)) return
        const { ready, saved } = job.value
        if (saved === undefined || ready?.accepted === true || saved.epoch === (yield* work.epoch)) return
        yield* Ref.set(own, Option.some(withoutReport(job.value)))
        yield* FiberHandle.clear(sending)
        yield* scope.fork(tellAgain(job.value))
      })

      /** Announces that it has settled, as soon as nothing occupies the session; given up when something new begins. */
      const announceSaved = ({ deadline, jobId }: OwnJob, saved: Saved): Effect.Effect<void> =>
        Effect.gen(function*() {
          if ((yield* work.epoch) !== saved.epoch || !(yield* work.succeeded(saved.callId))) return
          const readyNonce = yield* ids.uuid
          const announced = (accepted: boolean) => (one: OwnJob): OwnJob =>
            one.saved?.report === saved.report ? { ...one, ready: { nonce: readyNonce, accepted } } : one
          yield* Effect.sleep(lookMs).pipe(Effect.repeat({ while: () => work.busy }), Effect.whenEffect(work.busy))
          if ((yield* work.epoch) !== saved.epoch) return
          yield* update(jobId, announced(false))
          const tell = send(jobId, (head) => ({
            ...head,
            kind: "close_ready",
            payload: { jobId, instanceId, report: saved.report, readyNonce }
          }))
          if ((yield* untilDecided(tell, deadline)) === "accepted") yield* update(jobId, announced(true))
        })

      /** After a run has truly ended: what was saved in its epoch is announced, once. */
      const settled = Effect.gen(function*() {
        const job = Option.getOrUndefined(yield* Ref.get(own))
        if (job?.saved === undefined || job.ready !== undefined) return
        yield* FiberHandle.run(sending, within(job.deadline, announceSaved(job, job.saved)))
      })

      /** The coordinator's next message: it has accepted the announcement, whether its answer came or not. */
      const announced = ({ jobId, readyNonce }: EnvelopeOf<"close_commit">["payload"]) =>
        Effect.gen(function*() {
          const job = yield* Ref.get(own)
          if (!Option.exists(job, (one) => one.jobId === jobId && one.ready?.nonce === readyNonce)) return
          yield* update(jobId, (one) => ({ ...one, ready: { nonce: readyNonce, accepted: true } }))
          yield* FiberHandle.clear(sending)
        })

      /** Judged anew each time, in one moment: everything that the announcement said is still so. */
      const judgeCommit = (standing: Member, { payload }: EnvelopeOf<"close_commit">) =>
        Effect.gen(function*() {
          const job = yield* held(payload.jobId, payload.instanceId)
          const entry = standing.self?.closeJob
          if (Option.isNone(job) || entry?.jobId !== payload.jobId || entry.state !== "closing") {
            return yield* Effect.fail(notThisJob)
          }
          const { deadline, ready, saved } = job.value
          if (yield* deadline.passed) return yield* Effect.fail(tooLate)
          if (saved === undefined || ready?.nonce !== payload.readyNonce) {
            return yield* Effect.fail(notCommitted("the announcement that this answers does not hold any more"))
          }
          if ((yield* work.busy) || (yield* work.epoch) !== saved.epoch) {
            return yield* Effect.fail(notCommitted("something new began in this session after its handoff"))
          }
        })

      /** Begins to report, under a number of its own; none while another report is being sent. */
      const begin = (jobId: string) =>
        Ref.modify(own, (job) =>
          Option.match(Option.filter(job, (one) => one.jobId === jobId && !one.reporting), {
            onNone: () => [Option.none<number>(), job],
            onSome: (one) => [
              Option.some(one.reports + 1),
              Option.some<OwnJob>({ ...one, reports: one.reports + 1, reporting: true })
            ]
          }))

      const sendReport = Effect.fn("OwnClose.sendReport")(
        function*({ deadline, jobId }: OwnJob, number: number, summary: string, call: ToolCall) {
          const sent = yield* untilDecided(
            send(jobId, (head) => ({
              ...head,
              kind: "handoff_report",
              payload: { jobId, instanceId, report: number, summary }
            })),
            deadline
          )
          if (sent instanceof Rejected) return yield* notSaved(sent.message)
          if (sent !== "accepted") return yield* notSaved("the close's time was up before the coordinator answered.")
          const saved: Saved = { report: number, epoch: call.epoch, callId: call.id }
          yield* update(jobId, (one) => ({ ...withoutReport(one), saved }))
        }
      )

      const report = Effect.fn("OwnClose.report")(
        function*(standing: Member, args: ToolArguments<"intercom_report_handoff">, call: ToolCall) {
          const job = yield* Ref.get(own)
          if (
            Option.isNone(job) || job.value.jobId !== args.jobId || !job.value.asked ||
            !carries(standing, args.jobId) || (yield* job.value.deadline.passed)
          ) return yield* noJob
          yield* Effect.acquireUseRelease(
            begin(args.jobId),
            Option.match({
              onNone: () => Effect.fail(oneAtATime),
              onSome: (number) => sendReport(job.value, number, args.summary, call)
            }),
            Option.match({
              onNone: () => Effect.void,
              onSome: () => update(args.jobId, (one) => ({ ...one, reporting: false }))
            })
          )
          // What began while it was being saved is not in it.
          yield* invalidate
        }
      )

      const moments = yield* work.moments
      yield* Effect.forkScoped(Effect.forever(
        Effect.flatMap(Queue.take(moments), (moment) => moment === "settled" ? settled : invalidate)
      ))

      return {
        prepare,
        request,
        report,
        commit: (standing, envelope, commit) =>
          Effect.zipRight(announced(envelope.payload), commit(judgeCommit(standing, envelope)))
      }
    })
  )
}
