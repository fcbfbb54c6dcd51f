import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { CloseReason, CloseState } from "../../src/domain/CloseTable.ts"
import type { CloseTeam } from "../support/close/CloseTeam.ts"
import { coordinatorId, type Worker } from "../support/close/Reading.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { isRunning } from "../support/Processes.ts"

/** A job that goes on when it is let. */
export interface Frozen {
  readonly jobId: string
  readonly thaw: Effect.Effect<void>
}

export const frozenAt = (jobId: string, thaw: Effect.Effect<void>): Frozen => ({ jobId, thaw })

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

/**
 * Its pane and its Pi are gone, by one command for it. A machine so busy that they outlast the 2.5 s that a job looks, or
 * the command its 2 s, makes that `uncertain` until the next tool call: the team wants to have seen one closed at once.
 */
export const isClosed = (team: CloseTeam, worker: Worker, jobId: string, reported = handoff(jobId)) =>
  Effect.gen(function*() {
    const { agent, job } = yield* team.until(worker, "closed", "uncertain")
    assert.deepStrictEqual([job.jobId, agent.handoff?.summary], [jobId, reported])
    yield* eventuallyTrue(
      "the end of its process",
      Effect.sync(() => !isRunning(worker.pid)),
      Effect.map(team.coordinator().screen, (screen) => `${worker.name} ${JSON.stringify(job)}\n${screen}`)
    )
    yield* team.closed(job.state === "closed")
    if (job.state === "closed") yield* ended(team, worker, jobId, "closed", undefined, reported)
    else {
      assert.match(job.reason ?? "", /^close_(unverified|failed)$/)
      yield* isSettled(team, worker, jobId, job.reason)
    }
    yield* eventuallyTrue("the end of its pane", Effect.map(isThere(team, worker), (there) => !there))
    assert.strictEqual((yield* team.commands).filter((pane) => pane === worker.pane).length, 1)
  })

/** A tool call that meets the fence finds that its process is gone. */
export const isSettled = (team: CloseTeam, worker: Worker, jobId: string, reason: CloseReason | undefined) =>
  Effect.gen(function*() {
    yield* team.coordinator().type(`tell ${worker.name}: are you there`)
    const { job } = yield* team.until(worker, "closed")
    assert.deepStrictEqual([job.jobId, job.reason], [jobId, reason])
    yield* team.told(jobId, "closed")
  })

/** A text that the worker's model got. */
export const gets = (team: CloseTeam, worker: Worker, what: string, fits: (text: string) => boolean) =>
  team.harness.model.request(what, (one) => one.session === worker.sessionId && fits(one.lastUser))

const isRequest = (jobId: string) => (text: string) =>
  text.startsWith("[Intercom close request") && text.endsWith(`\njobId: ${jobId}`)
export const isAgain = (jobId: string) => (text: string) =>
  isRequest(jobId)(text) && text.includes("Something new began")

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
export const answers = (team: CloseTeam, order: string): ReadonlyArray<string> =>
  team.harness.model.requests().flatMap((one) =>
    one.session === coordinatorId && one.lastUser === order && one.lastRole === "tool"
      ? [one.messages.at(-1)?.text ?? ""]
      : []
  )

/** A worker that nothing is in the way of is closed. */
export const closesThen = (team: CloseTeam, worker: Worker) =>
  Effect.flatMap(team.close(worker), (jobId) => isClosed(team, worker, jobId))
