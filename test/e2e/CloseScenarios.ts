import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { CloseReason, CloseState } from "../../src/domain/CloseTable.ts"
import { type CloseTeam, coordinatorId, type Worker } from "../support/close/CloseTeam.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { isRunning } from "../support/Processes.ts"

/** A job that goes on when it is let. */
export interface Frozen {
  readonly jobId: string
  readonly thaw: Effect.Effect<void>
}

const frozenAt = (jobId: string, thaw: Effect.Effect<void>): Frozen => ({ jobId, thaw })

/** The states in which a job can be for long. */
export const steps = ["requested", "awaiting_handoff", "awaiting_settlement", "closing"] as const
export type Step = (typeof steps)[number]

export const handoff = (jobId: string, number = 1): string => `HANDOFF ${number} of ${jobId}`

/** Whether its pane is there. */
export const isThere = (team: CloseTeam, worker: Worker) =>
  Effect.map(team.harness.tmux.panes, (rows) => rows.some((row) => row.pane === worker.pane && !row.dead))

/** What a job came to, in the team file and to the coordinator's model, once. */
export const ended = (
  team: CloseTeam,
  worker: Worker,
  jobId: string,
  state: CloseState,
  reason?: CloseReason,
  reported?: string
) =>
  Effect.gen(function*() {
    const { agent, job } = yield* team.until(worker, state)
    assert.deepStrictEqual([job.jobId, job.reason], [jobId, reason])
    const notice = yield* team.told(jobId, state)
    assert.include(notice, `handoff of this close: ${reported === undefined ? "none saved" : "saved"}`)
    assert.strictEqual(agent.handoff?.jobId === jobId ? agent.handoff.summary : undefined, reported)
    assert.strictEqual(agent.name, worker.name)
    assert.strictEqual(agent.description, "Helps.")
  })

/** Its pane and its Pi are gone, by one command for it. */
export const isClosed = (team: CloseTeam, worker: Worker, jobId: string, reported = handoff(jobId)) =>
  Effect.gen(function*() {
    yield* ended(team, worker, jobId, "closed", undefined, reported)
    assert.isFalse(yield* isThere(team, worker))
    assert.isFalse(isRunning(worker.pid))
    assert.strictEqual((yield* team.commands).filter((pane) => pane === worker.pane).length, 1)
  })

/** A text that the worker's model got. */
const gets = (team: CloseTeam, worker: Worker, what: string, fits: (text: string) => boolean) =>
  team.harness.model.request(what, (one) => one.session === worker.sessionId && fits(one.lastUser))

const isRequest = (jobId: string) => (text: string) =>
  text.startsWith("[Intercom close request") && text.endsWith(`\njobId: ${jobId}`)
const isAgain = (jobId: string) => (text: string) => isRequest(jobId)(text) && text.includes("Something new began")

/** How often the worker's model was told that it may report again. */
const toldAgain = (team: CloseTeam, worker: Worker, jobId: string): number =>
  Math.max(
    ...team.harness.model.requests().filter((one) => one.session === worker.sessionId).map((one) =>
      one.messages.filter(({ role, text }) => role === "user" && isAgain(jobId)(text)).length
    )
  )

/** A job that has come to that step and stays there. */
export const frozen = (team: CloseTeam, worker: Worker, step: Step, seconds?: number) =>
  Effect.gen(function*() {
    const gate = yield* Deferred.make<void>()
    const open = Effect.asVoid(Deferred.succeed(gate, undefined))
    if (step === "requested") {
      const jobId = yield* team.holding(worker.sessionId, team.close(worker, seconds))
      return frozenAt(jobId, team.release(worker.sessionId))
    }
    team.script.pause(step === "awaiting_handoff" ? "report" : "end", Deferred.await(gate))
    const jobId = yield* team.close(worker, seconds)
    yield* gets(team, worker, "the close request", isRequest(jobId))
    if (step === "awaiting_handoff") {
      yield* team.until(worker, "awaiting_handoff")
      return frozenAt(jobId, open)
    }
    yield* team.until(worker, "awaiting_settlement")
    // Its turn has not ended: the model is asked what to say to the result.
    yield* team.harness.model.request(
      "the result of the report",
      (one) => one.session === worker.sessionId && one.lastRole === "tool" && isRequest(jobId)(one.lastUser)
    )
    if (step === "awaiting_settlement") return frozenAt(jobId, open)
    yield* team.holding(worker.sessionId, open)
    yield* team.until(worker, "closing")
    return frozenAt(jobId, team.release(worker.sessionId))
  })

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

/** 5: its process outlives its pane: uncertain, fenced, and closed once the process is gone. tmux only signals. */
export const outlives = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    yield* team.stubborn(worker.sessionId)
    const jobId = yield* team.close(worker)
    yield* ended(team, worker, jobId, "uncertain", "close_unverified", handoff(jobId))
    assert.isFalse(yield* isThere(team, worker))
    assert.isTrue(isRunning(worker.pid))
    yield* isFenced(team, worker)
    yield* team.kill(worker)
    yield* eventuallyTrue("the end of its process", Effect.sync(() => !isRunning(worker.pid)))
    yield* team.coordinator().type(`tell ${worker.name}: are you there`)
    const { job } = yield* team.until(worker, "closed")
    assert.deepStrictEqual([job.jobId, job.reason], [jobId, "close_unverified"])
    yield* team.told(jobId, "closed")
  })

/** Work and a second close are refused, with a sentence. */
export const isFenced = (team: CloseTeam, worker: Worker) =>
  Effect.gen(function*() {
    const before = yield* team.until(worker, "uncertain")
    for (const order of [`tell ${worker.name}: fenced ${before.job.jobId}`, `close ${worker.name}`]) {
      const count = answers(team, order).length
      yield* team.coordinator().type(order)
      yield* eventuallyTrue(
        `the refusal of ${order}`,
        Effect.sync(() => answers(team, order).slice(count).some((text) => text.includes("/intercom resolve"))),
        Effect.sync(() => answers(team, order).join("\n"))
      )
    }
    assert.deepStrictEqual((yield* team.until(worker, "uncertain")).job, before.job)
  })

/** What the tools said to an order of the person. */
const answers = (team: CloseTeam, order: string): ReadonlyArray<string> =>
  team.harness.model.requests().flatMap((one) =>
    one.session === coordinatorId && one.lastUser === order && one.lastRole === "tool"
      ? [one.messages.at(-1)?.text ?? ""]
      : []
  )
