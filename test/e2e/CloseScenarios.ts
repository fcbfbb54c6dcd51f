import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CloseTeam } from "../support/close/CloseTeam.ts"
import * as Parkers from "../support/close/Parkers.ts"
import type { Worker } from "../support/close/Reading.ts"
import { eventually, eventuallyTrue, type NeverCame } from "../support/Eventually.ts"
import { isRunning } from "../support/Processes.ts"
import {
  answers,
  closesThen,
  ended,
  frozen,
  gets,
  handoff,
  isAgain,
  isClosed,
  isFenced,
  isSettled,
  isThere,
  type Step
} from "./CloseSteps.ts"

/** How often the worker's model was told that it may report again. */
const toldAgain = (team: CloseTeam, worker: Worker, jobId: string): number =>
  Math.max(
    ...team.harness.model.requests().filter((one) => one.session === worker.sessionId).map((one) =>
      one.messages.filter(({ role, text }) => role === "user" && isAgain(jobId)(text)).length
    )
  )

/** 1: asked while its turn runs. */
export const parks = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const gate = yield* Deferred.make<void>()
    team.script.hold("think long", Deferred.await(gate))
    yield* worker.pi.type("think long")
    yield* gets(team, worker, "it is busy", (text) => text === "think long")
    const jobId = yield* team.close(worker)
    yield* team.until(worker, "awaiting_handoff")
    yield* Deferred.succeed(gate, undefined)
    yield* isClosed(team, worker, jobId)
    return worker
  })

/** 2: the person types after the report: no close until it has reported again. */
export const inputAfterReport = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    assert.strictEqual((yield* team.until(worker, "awaiting_settlement")).agent.handoff?.summary, handoff(jobId))
    const again = yield* Deferred.make<void>()
    team.script.pause("report", Deferred.await(again))
    yield* worker.pi.type("one more thing")
    yield* thaw
    yield* gets(team, worker, "it may report again", isAgain(jobId))
    assert.strictEqual((yield* team.until(worker, "awaiting_settlement")).job.jobId, jobId)
    assert.isTrue(yield* isThere(team, worker))
    assert.isTrue(
      team.harness.model.requests().some((one) => one.messages.some(({ text }) => text === "one more thing"))
    )
    yield* Deferred.succeed(again, undefined)
    yield* isClosed(team, worker, jobId, handoff(jobId, 2))
    assert.strictEqual(toldAgain(team, worker, jobId), 1)
  })

/** 3: the person types after it was accepted that the worker is ready, before the commit arrives. Answers the worker. */
export const inputAfterReady = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "closing")
    yield* worker.pi.type("wait a moment")
    yield* gets(team, worker, "the text", (text) => text === "wait a moment")
    yield* worker.pi.shows("ECHO wait a moment")
    yield* thaw
    yield* ended(team, worker, jobId, "failed", "commit_rejected", handoff(jobId))
    assert.isTrue(yield* isThere(team, worker))
    assert.notInclude(yield* team.commands, worker.pane)
    return worker
  })

/** 4: the person compacts the worker's session at that step. */
export const compacts = (team: CloseTeam, step: Step) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const busy = yield* Deferred.make<void>()
    yield* worker.pi.type("hello")
    yield* worker.pi.shows("ECHO hello")
    yield* team.integrate(worker)
    const { jobId, thaw } = yield* frozen(team, worker, step)
    const before = team.harness.model.requests().filter((one) => one.summary).length
    team.script.holdSummary(Deferred.await(busy))
    yield* worker.pi.type("/compact")
    yield* eventuallyTrue(
      "the compaction",
      Effect.sync(() => team.harness.model.requests().filter((one) => one.summary).length > before),
      worker.pi.screen
    )
    yield* thaw
    // Nothing new can be told while it compacts; a commit is judged.
    if (step === "closing") {
      yield* ended(team, worker, jobId, "failed", "commit_rejected", handoff(jobId))
      yield* Deferred.succeed(busy, undefined)
      assert.isTrue(yield* isThere(team, worker))
      return
    }
    yield* team.until(worker, step === "requested" ? "awaiting_handoff" : step)
    yield* Deferred.succeed(busy, undefined)
    // The compaction ended the run in which it was asked: the person has it report.
    if (step === "awaiting_handoff") {
      yield* worker.pi.shows(/[Cc]ompacted/)
      yield* worker.pi.type("report now")
    }
    yield* isClosed(team, worker, jobId, handoff(jobId, step === "requested" ? 1 : 2))
  })

/** How the coordinator goes and comes back. */
export type Interruption = "reload" | "kill"

const comesBack = (team: CloseTeam, how: Interruption) =>
  Effect.gen(function*() {
    if (how === "kill") return yield* Effect.zipRight(team.killCoordinator, team.restartCoordinator)
    yield* team.coordinator().type("/reload")
    yield* team.coordinator().shows("Reloaded")
  })

/**
 * 9: the coordinator goes at that step and comes back: nothing is replayed, and what is not known is said to be so.
 * Answers the worker.
 */
export const coordinatorGoes = (team: CloseTeam, step: Step, how: Interruption) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, step)
    yield* comesBack(team, how)
    const state = step === "closing" ? "uncertain" : "interrupted"
    const { agent, job } = yield* team.until(worker, state)
    assert.deepStrictEqual([job.jobId, job.reason], [jobId, "interrupted"])
    const reported = step === "awaiting_settlement" || step === "closing"
    assert.strictEqual(agent.handoff?.summary, reported ? handoff(jobId) : undefined)
    // The model hears of it in its next run.
    yield* team.coordinator().type(`after ${jobId}`)
    yield* team.told(jobId, state)
    yield* thaw
    yield* worker.pi.type(`still there ${jobId}`)
    yield* team.harness.model.request(
      "a text after it",
      (one) => one.session === worker.sessionId && one.messages.some(({ text }) => text === `still there ${jobId}`)
    )
    assert.deepStrictEqual((yield* team.until(worker, state)).job, job)
    assert.isTrue(yield* isThere(team, worker))
    assert.notInclude(yield* team.commands, worker.pane)
    if (step === "closing") {
      yield* isFenced(team, worker)
      yield* team.coordinator().type(`/intercom resolve ${worker.name}`)
      yield* team.coordinator().shows("Is the worker's pane closed?")
      yield* team.coordinator().keys("Enter")
      yield* team.coordinator().shows("Does the worker still run?")
      yield* team.coordinator().keys("Down", "Enter")
      const settled = yield* team.until(worker, "failed")
      assert.deepStrictEqual([settled.job.jobId, settled.job.reason], [jobId, "close_unverified"])
      yield* team.told(jobId, "failed")
    }
    return worker
  })

/** 9: the coordinator is killed as it gives the close command: that is given once, whatever became of it. */
export const diesInCommand = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    const pane = team.coordinator().pane
    yield* team.ends(pane)
    yield* team.before("close", `kill -9 ${yield* team.pidOf(pane)}`)
    yield* thaw
    yield* team.coordinator().gone
    yield* team.restartCoordinator
    const { agent, job } = yield* team.until(worker, "closed", "uncertain")
    assert.deepStrictEqual([job.jobId, job.reason, agent.handoff?.summary], [jobId, "interrupted", handoff(jobId)])
    if (job.state === "uncertain") {
      yield* team.kill(worker)
      yield* eventuallyTrue("the end of its process", Effect.sync(() => !isRunning(worker.pid)))
      yield* isSettled(team, worker, jobId, "interrupted")
    }
    assert.isFalse(isRunning(worker.pid))
    assert.strictEqual((yield* team.commands).filter((one) => one === worker.pane).length, 1)
  })

/** 10: the worker is killed at that step. With seconds: those that the deadline must be waited for. */
export const workerDies = (team: CloseTeam, step: Step) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, step, 30)
    yield* team.kill(worker)
    const [state, reason] = step === "requested"
      ? ["failed", "delivery_failed"] as const
      : ["timed_out", "timeout"] as const
    const reported = step === "awaiting_settlement" || step === "closing" ? handoff(jobId) : undefined
    yield* ended(team, worker, jobId, state, reason, reported)
    const { job } = yield* team.until(worker, state)
    assert.isAtMost(Date.parse(job.updatedAt), Date.parse(job.deadlineAt) + 3_000)
    yield* thaw
    assert.notInclude(yield* team.commands, worker.pane)
  })

/** 13: a parked worker comes back as itself, with its handoff. */
export const resumes = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* parks(team)
    const { agent, job } = yield* team.until(worker, "closed")
    yield* team.coordinator().type(`resume ${worker.name}`)
    const back = yield* eventually(
      "its tab",
      Effect.map(
        team.harness.tmux.panes,
        (rows) => Option.fromNullable(rows.find((row) => row.window === worker.name))
      ),
      team.coordinator().screen
    )
    yield* team.coordinator().type(`tell ${worker.name}: go on ${job.jobId}`)
    const request = yield* gets(team, worker, "its work", (text) => text.endsWith(`go on ${job.jobId}`))
    assert.include(request.system, `You are ${worker.name} (session ${worker.sessionId}). Responsibility: Helps.`)
    const told = request.messages.flatMap(({ args, calls }) =>
      calls.flatMap((name, at) => name === "intercom_report_handoff" ? [args[at] ?? ""] : [])
    )
    assert.deepStrictEqual(told.map((args): unknown => JSON.parse(args)), [
      { jobId: job.jobId, summary: agent.handoff?.summary }
    ])
    assert.notInclude(request.tools.map(({ name }) => name), "intercom_report_handoff")
    const again = { ...worker, pane: back.pane, pid: yield* team.pidOf(back.pane), pi: team.harness.pane(back.pane) }
    yield* team.integrate(again)
    yield* closesThen(team, again)
  })

/** 11: sixteen at once, and a seventeenth that is refused, with nothing asked of it; it is closed afterwards. */
const atOnce = (
  team: CloseTeam,
  some: ReadonlyArray<Worker>,
  last: Worker,
  pending: Effect.Effect<void, NeverCame>,
  go: (worker: Worker) => Effect.Effect<void>
) =>
  Effect.gen(function*() {
    assert.lengthOf(some, 16)
    const jobs = yield* team.closeAll(some, 600)
    yield* pending
    yield* team.coordinator().type(`close ${last.name}`)
    yield* eventuallyTrue(
      "the refusal of the 17th",
      Effect.sync(() => answers(team, `close ${last.name}`).some((text) => text.includes("16 closes are under way"))),
      Effect.sync(() => answers(team, `close ${last.name}`).join("\n"))
    )
    assert.isTrue(Option.isNone(yield* team.closingOf(last)))
    // All pending at once; closed at once in tmux only: the stand-in for Herdr starts so slowly that sixteen of its
    // commands would be cut off before they do anything.
    const apart = team.harness.herdr !== undefined
    if (!apart) yield* Effect.forEach(some, go, { discard: true })
    for (const [at, worker] of some.entries()) {
      if (apart) yield* go(worker)
      yield* isClosed(team, worker, jobs[at] ?? "")
    }
    yield* go(last)
    assert.isTrue(yield* isThere(team, last))
    yield* closesThen(team, last)
  })

/** 11, each of them a Pi. */
export const sixteen = (team: CloseTeam) =>
  Effect.gen(function*() {
    const all = yield* team.openAll(17)
    const [last, ...some] = all
    if (last === undefined) return assert.fail("no workers")
    for (const { sessionId } of all) yield* team.hold(sessionId)
    yield* atOnce(team, some, last, Effect.void, ({ sessionId }) => team.release(sessionId))
  })

/** 11, one of them a Pi, the others without (Parkers). */
export const sixteenMembers = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { go, parkers: [last, ...others] } = yield* Parkers.start(team, 16)
    if (last === undefined) return assert.fail("no parkers")
    const gate = yield* Deferred.make<void>()
    team.script.pause("report", Deferred.await(gate))
    const some = [worker, ...others]
    yield* atOnce(
      team,
      some,
      last,
      Effect.forEach(some, (one) => team.until(one, "awaiting_handoff"), { discard: true }),
      () => Effect.zipRight(go, Effect.asVoid(Deferred.succeed(gate, undefined)))
    )
  })

/** The person types before the worker was asked, or before it reports: what it reports then is good. */
export const inputBefore = (team: CloseTeam, step: "requested" | "awaiting_handoff") =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, step)
    yield* worker.pi.type("by the way")
    if (step === "requested") yield* gets(team, worker, "the text", (text) => text === "by the way")
    yield* thaw
    const { agent, job } = yield* team.until(worker, "closed", "uncertain")
    assert.strictEqual(job.jobId, jobId)
    yield* isClosed(team, worker, jobId, agent.handoff?.summary ?? "")
  })
