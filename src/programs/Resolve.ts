import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Move } from "../domain/CloseChanges.ts"
import { type CloseJob, isFinal } from "../domain/CloseTable.ts"
import type { Liveness } from "../domain/IdentifiedProcess.ts"
import { attemptOf, jobOf } from "../domain/Ledger.ts"
import { SessionId } from "../domain/Primitives.ts"
import { Refused } from "../domain/SessionErrors.ts"
import { observed } from "../domain/TakeOver.ts"
import { type Agent, agentByName } from "../domain/TeamConfig.ts"
import { HostSession } from "../services/HostSession.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { ProcessIdentity } from "../services/ProcessIdentity.ts"
import { ProcessLedger } from "../services/ProcessLedger.ts"
import { openAttempt, settle, submitted } from "./Attempts.ts"
import { CloseJobs } from "./close/CloseJobs.ts"
import type { Member, Standing } from "./Membership.ts"
import { enterTeam } from "./Team.ts"

const isSessionId = Schema.is(SessionId)

const notHere = new Refused({
  reason: "not_coordinator",
  sentence:
    "Only the team's coordinator records what is settled, so nothing was done. Run it in the coordinator's session."
})

const noTeam = new Refused({ reason: "no_team", sentence: "There is no team here, so there is nothing to settle." })

/** The team, while this session coordinates it. */
const coordinated = (standing: Standing): Effect.Effect<Member, Refused> =>
  standing.role === "coordinator" ? Effect.succeed(standing) : standing.role === "solo" ? noTeam : notHere

const nothingOf = (who: string) =>
  new Refused({
    reason: "unknown_name",
    sentence: `There is nothing to settle of ${
      JSON.stringify(who)
    }, so nothing was done. /intercom says what needs attention.`
  })

/** What the person is asked about a close of which it is not proven what it did. */
const closeQuestion = (worker: Agent, job: CloseJob, seen: Liveness | undefined): string =>
  `The close of ${worker.name} (job ${job.jobId}) is uncertain since ${job.updatedAt}` +
  `${job.reason === undefined ? "" : `, because of ${job.reason}`}. ` +
  (seen === "alive"
    ? "Its process still runs. "
    : seen === undefined
    ? "Which process it was is not recorded. "
    : "Of its process nothing can be told from here. ")

/** Whether this session's multiplexer, if it has one, answers at all: one that hangs may still do what it was told to. */
const answers = Effect.flatMap(Multiplexers, ({ own }) =>
  Option.match(own, {
    onNone: () => Effect.succeed(true),
    onSome: (multiplexer) => Effect.isSuccess(multiplexer.identify.pipe(Effect.disconnect, Effect.timeout("2 seconds")))
  }))

/** Settles an uncertain close: by proof, or by what the person saw. Answers the text to show. */
const resolveClose = Effect.fn("Resolve.close")(function*(team: Member, worker: Agent) {
  const jobs = yield* CloseJobs
  const { closeJob: job, name } = yield* jobs.meet(team.root, worker)
  if (job?.state !== "uncertain") {
    return job?.state === "closed"
      ? `The close of ${name} is settled: its process is proven gone.`
      : `The close of ${name} is ${
        job === undefined ? "not recorded any more" : job.state
      }: there is nothing to settle.`
  }
  const process = jobOf(yield* (yield* ProcessLedger).read(team.root), job.jobId)
  const seen = process && (yield* (yield* ProcessIdentity).look(process))
  const host = yield* HostSession
  const question = closeQuestion(worker, job, seen)
  const closed = yield* host.confirm(
    "Is the worker's pane closed?",
    `${question}Say yes only if you have seen that its pane and its Pi are gone: then it is recorded as closed and can ` +
      "be resumed. If it still runs, or you do not know, say no.",
    { no: "No, or I do not know", yes: "Yes, I have seen that both are gone: record it as closed" }
  )
  if (!closed && !(yield* answers)) {
    return `Nothing was recorded: the multiplexer does not answer, and may still carry out the close of ${name}. Once it ` +
      "answers again, look once more and run this again."
  }
  // What was on its way in the multiplexer has happened before it answered.
  const { closeJob: still } = yield* jobs.meet(team.root, worker)
  if (still?.state === "closed") return `The close of ${name} is settled: its process is proven gone.`
  const runs = !closed && (yield* host.confirm(
    "Does the worker still run?",
    `${question}Say yes only if you have seen that its Pi still runs: then the close is recorded as failed and it can be ` +
      "given work again. If you do not know, say no: nothing is recorded.",
    { no: "No, or I do not know: record nothing", yes: "Yes, I have seen that it runs: record the close as failed" }
  ))
  if (!closed && !runs) return `Nothing was recorded: the close of ${name} stays uncertain.`
  // The answer may have taken its time: this session must still be the one that records.
  const now = yield* Effect.flatMap(enterTeam, coordinated)
  const to: Move = closed ? { state: "closed" } : { state: "failed", reason: "close_unverified" }
  if (!(yield* jobs.settleByHand(now.root, worker, job, to))) {
    return `Nothing was recorded: the close of ${name} was settled otherwise meanwhile.`
  }
  return closed
    ? `Recorded: ${name} is closed. It can be resumed.`
    : `Recorded: ${name} still runs, its close failed. It can be given work again.`
})

/** Settles an open resume: by proof, or by what the person saw. Answers the text to show. */
const resolveAttempt = Effect.fn("Resolve.attempt")(
  function*(root: string, who: string, sessionId: SessionId, worker: Agent | undefined) {
    const attempt = yield* openAttempt(root, sessionId)
    if (attempt === undefined) {
      return `The resume of ${who} is settled: its pane is proven gone. It can be resumed again.`
    }
    const seen = worker && (yield* (yield* IntercomClient).probe(root, worker))
    if (worker !== undefined && seen?.reason === "verified") {
      yield* settle(root, sessionId, attempt)
      return `The resume of ${who} is settled: ${observed(seen, worker.port)}.`
    }
    const closed = yield* (yield* HostSession).confirm(
      "Is the Pi of that resume closed?",
      `The resume of ${who} (session ${sessionId}) ${submitted(attempt)}. It is not proven that its pane is gone` +
        (worker === undefined || seen === undefined ? ". " : `; ${observed(seen, worker.port)}. `) +
        "Say yes only if you have seen that the Pi it opened is closed: then the worker can be resumed again. " +
        "If it still runs, say no: the resume stays open until that Pi reports its status.",
      { no: "No, or I do not know: record nothing", yes: "Yes, I have seen that it is closed: record that" }
    )
    if (!closed) return `Nothing was recorded: the resume of ${who} stays open.`
    // The answer may have taken its time: this session must still be the one that records.
    yield* Effect.flatMap(enterTeam, coordinated)
    yield* settle(root, sessionId, attempt)
    return `Recorded: the Pi of that resume is closed. ${who} can be resumed again.`
  }
)

/**
 * `/intercom resolve <worker>`: settles an open resume (spec 4). A worker whose entry was removed meanwhile is named by
 * its session id.
 */
export const resolve = Effect.fn("resolve")(function*(standing: Standing, who: string) {
  const team = yield* coordinated(standing)
  const worker = agentByName(team.config, who)
  if (worker?.closeJob !== undefined && !isFinal(worker.closeJob.state)) return yield* resolveClose(team, worker)
  const sessionId = worker?.sessionId ?? who
  if (!isSessionId(sessionId)) return yield* nothingOf(who)
  if (attemptOf(yield* (yield* ProcessLedger).read(team.root), sessionId) === undefined) return yield* nothingOf(who)
  return yield* resolveAttempt(team.root, worker?.name ?? who, sessionId, worker)
})
