import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import type { Probe } from "../../../src/domain/Probe.ts"
import type { Snapshot, WorkerView } from "../../../src/domain/Snapshot.ts"
import { coordinatorOf } from "../../../src/domain/TeamConfig.ts"
import { toolArguments } from "../../../src/domain/ToolCatalogue.ts"
import { maxResultBytes } from "../../../src/domain/ToolResult.ts"
import { workerStatus } from "../../../src/programs/tools/WorkerStatus.ts"
import { IntercomClient } from "../../../src/services/IntercomClient.ts"
import { ObservationReader } from "../../../src/services/ObservationReader.ts"
import { teamOf } from "../../layers/ObservationReader/Place.ts"

const unseen = {
  observedStatus: "unknown",
  evidence: "missing",
  observedAt: undefined,
  lastActivity: undefined
} as const

/** A team of these workers, of which this is seen at `takenAt`. */
const team = (
  ids: ReadonlyArray<string>,
  view: Partial<Omit<Snapshot, "workers">> = {},
  change: (agent: object) => object = (agent) => agent,
  known: (id: string) => Partial<WorkerView> = () => ({})
) => {
  const config = teamOf(ids, change)
  const coordinator = coordinatorOf(config)
  const workers = config.agents.filter((agent) => !agent.coordinator).map((agent): WorkerView => ({
    agent,
    report: undefined,
    seen: unseen,
    ...known(agent.sessionId)
  }))
  const snapshot: Snapshot = { takenAt: 0, truncated: false, errors: [], ...view, workers }
  return {
    standing: { role: "coordinator", root: "/team", config, self: coordinator, coordinator } as const,
    reader: Layer.succeed(ObservationReader, { snapshot: () => Effect.succeed(snapshot) })
  }
}

const unasked = { send: () => Effect.die("not asked for"), probe: () => Effect.die("not asked for") } as const
const probes = (answer: Effect.Effect<ReadonlyArray<Probe>>) =>
  Layer.succeed(IntercomClient, { ...unasked, probeAll: () => answer })
const noProbes = probes(Effect.die("not asked for"))

/** The whole answer at this offset, and all pages from there on. */
const page = (at: ReturnType<typeof team>, args: Parameters<typeof workerStatus>[1]) =>
  Effect.map(workerStatus(at.standing, args), (text) => ({ text, ...JSON.parse(text) })).pipe(
    Effect.provide(Layer.merge(at.reader, noProbes))
  )

describe("intercom_worker_status", () => {
  it.effect("says when the probes had run, and nothing of the time of one that did not run", () =>
    Effect.gen(function*() {
      const { reader, standing } = team(["ada", "bob"])
      const slow = probes(Effect.delay(
        Effect.succeed<ReadonlyArray<Probe>>([
          { state: "connected", reason: "verified" },
          { state: "unknown", reason: "not_checked" }
        ]),
        3000
      ))
      const asked = yield* Effect.fork(
        workerStatus(standing, { probe: true }).pipe(Effect.provide(Layer.merge(slow, reader)))
      )
      yield* TestClock.adjust(3000)
      const { generatedAt, workers } = JSON.parse(yield* Fiber.join(asked))
      assert.strictEqual(generatedAt, "1970-01-01T00:00:00.000Z")
      assert.deepStrictEqual([workers[0].connection, workers[1].connection], [
        { state: "connected", reason: "verified", checkedAt: "1970-01-01T00:00:03.000Z" },
        { state: "unknown", reason: "not_checked", checkedAt: null }
      ])
    }))

  it.effect("has the fields of spec 7.5, and null for what is not known", () =>
    Effect.gen(function*() {
      const handoff = { version: 1, jobId: "job-1", summary: "Half done.", updatedAt: "1970-01-01T00:00:40.000Z" }
      const closeJob = {
        jobId: "job-2",
        state: "failed",
        reason: "worker_busy",
        createdAt: "1970-01-01T00:00:00.000Z",
        updatedAt: "1970-01-01T00:00:01.000Z",
        deadlineAt: "1970-01-01T00:02:00.000Z"
      }
      const at = team(
        ["ada", "ben", "cleo"],
        { takenAt: 100_000, truncated: true, errors: ["log_read_failed"] },
        (agent) => "sessionId" in agent && agent.sessionId === "ada" ? { ...agent, handoff, closeJob } : agent,
        (id) =>
          id === "ada"
            ? {
              seen: {
                observedStatus: "working",
                evidence: "stale",
                observedAt: "1970-01-01T00:00:30.500Z",
                lastActivity: "Reading files"
              }
            }
            : id === "ben"
            ? {
              seen: { ...unseen, evidence: "clock_uncertain", observedAt: "1970-01-01T01:00:00.000Z" }
            }
            : {}
      )
      const { text: _, ...whole } = yield* page(at, {})
      const { statusMeaning, workers, ...head } = whole
      assert.match(statusMeaning, /idle is not done/)
      assert.deepStrictEqual(head, {
        version: 1,
        source: "local-observations",
        generatedAt: "1970-01-01T00:01:40.000Z",
        truncated: true,
        errors: ["log_read_failed"],
        totalInSnapshot: 3,
        offset: 0,
        nextOffset: null
      })
      const connection = { state: "unknown", reason: "not_checked", checkedAt: null }
      const nothing = {
        observedStatus: "unknown",
        lastActivity: null,
        observedAt: null,
        observationAgeSeconds: null,
        stale: false,
        evidence: "missing",
        connection,
        report: null
      }
      const { createdAt: _createdAt, ...job } = closeJob
      const { version: _version, ...saved } = handoff
      assert.deepStrictEqual(workers, [
        {
          sessionId: "ada",
          name: "Worker ada",
          observedStatus: "working",
          lastActivity: "Reading files",
          observedAt: "1970-01-01T00:00:30.500Z",
          observationAgeSeconds: 69,
          stale: true,
          evidence: "stale",
          connection,
          report: null,
          handoff: { ...saved, ageSeconds: 60, selfReported: true },
          closeJob: job
        },
        {
          ...nothing,
          sessionId: "ben",
          name: "Worker ben",
          evidence: "clock_uncertain",
          observedAt: "1970-01-01T01:00:00.000Z"
        },
        { ...nothing, sessionId: "cleo", name: "Worker cleo" }
      ])
    }))

  it.effect("can be paged to the end of 256 handoffs of 4000 CJK characters", () =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 256 }, (_, n) => `worker-${n}`)
      const summary = "漢".repeat(4000)
      const handoff = { version: 1, jobId: "job", summary, updatedAt: "1970-01-01T00:00:00.000Z" }
      const at = team(ids, {}, (agent) => ({ ...agent, handoff }))
      const shown: Array<string> = []
      let next: number | null = 0
      while (next !== null) {
        const one: { text: string; nextOffset: number | null; workers: ReadonlyArray<{ sessionId: string }> } =
          yield* page(at, { offset: next, limit: 20 })
        assert.isAtLeast(one.workers.length, 1)
        assert.isAtMost(new TextEncoder().encode(one.text).length, 40_000)
        assert.notInclude(one.text.slice(0, -4), "\ufffd")
        shown.push(...one.workers.map(({ sessionId }) => sessionId))
        next = one.nextOffset
      }
      assert.deepStrictEqual(shown, ids)
    }))

  it.effect("shows one worker whole, however much there is of it, within a tool's bounds", () =>
    Effect.gen(function*() {
      const handoff = {
        version: 1,
        jobId: "j".repeat(128),
        summary: "\u0001".repeat(4000),
        updatedAt: "1970-01-01T00:00:00Z"
      }
      const at = team(["ada"], {}, (agent) => ({ ...agent, handoff }), (id) => ({
        report: {
          version: 1,
          sessionId: coordinatorOf(teamOf([id])).sessionId,
          status: "blocked",
          summary: "漢".repeat(2000),
          updatedAt: "1970-01-01T00:00:00Z"
        }
      }))
      const { text, workers } = yield* page(at, { name: "worker ADA" })
      assert.strictEqual(workers[0].handoff.summary, handoff.summary)
      assert.isAtMost(new TextEncoder().encode(text).length, maxResultBytes)
    }))

  it.effect("probes the page's workers only, and puts the disconnected ones last in it", () =>
    Effect.gen(function*() {
      const { reader, standing } = team(["a", "b", "c", "d"])
      const asked: Array<ReadonlyArray<string>> = []
      const client = Layer.succeed(IntercomClient, {
        ...unasked,
        probeAll: (_, agents) =>
          Effect.sync(() => {
            asked.push(agents.map(({ sessionId }) => sessionId))
            return agents.map(({ sessionId }): Probe =>
              sessionId === "b"
                ? { state: "disconnected", reason: "refused" }
                : { state: "connected", reason: "verified" }
            )
          })
      })
      const text = yield* workerStatus(standing, { probe: true, offset: 1, limit: 2 }).pipe(
        Effect.provide(Layer.merge(client, reader))
      )
      const { nextOffset, workers } = JSON.parse(text)
      assert.deepStrictEqual(asked, [["b", "c"]])
      assert.deepStrictEqual(workers.map((worker: { sessionId: string }) => worker.sessionId), ["c", "b"])
      assert.strictEqual(nextOffset, 3)
    }))

  it.effect("of workers that do not fit the page nobody is probed", () =>
    Effect.gen(function*() {
      const handoff = { version: 1, jobId: "job", summary: "漢".repeat(4000), updatedAt: "1970-01-01T00:00:00.000Z" }
      const ids = Array.from({ length: 20 }, (_, n) => `worker-${n}`)
      const { reader, standing } = team(ids, {}, (agent) => ({ ...agent, handoff }))
      const asked: Array<string> = []
      const client = Layer.succeed(IntercomClient, {
        ...unasked,
        probeAll: (_, agents) =>
          Effect.sync(() => {
            asked.push(...agents.map(({ sessionId }) => sessionId))
            return agents.map((): Probe => ({ state: "disconnected", reason: "identity_mismatch" }))
          })
      })
      const text = yield* workerStatus(standing, { probe: true, limit: 20 }).pipe(
        Effect.provide(Layer.merge(client, reader))
      )
      const { nextOffset, workers } = JSON.parse(text)
      assert.isAtMost(new TextEncoder().encode(text).length, 40_000)
      assert.deepStrictEqual(workers.map((worker: { sessionId: string }) => worker.sessionId), asked)
      assert.deepStrictEqual([asked.length, nextOffset], [3, 3])
      assert.strictEqual(workers[0].connection.reason, "identity_mismatch")
    }))

  it.effect("refuses a name that nobody has, and is empty beyond the end", () =>
    Effect.gen(function*() {
      const at = team(["ada"])
      const refused = yield* Effect.flip(page(at, { name: "Eve" }))
      assert.include(refused.message, "Nobody in the team is called \"Eve\"")
      const { nextOffset, totalInSnapshot, workers } = yield* page(at, { offset: 7 })
      assert.deepStrictEqual([workers, totalInSnapshot, nextOffset], [[], 1, null])
    }))

  it("takes whole offsets from 0 and limits from 1 to 20", () => {
    const is = Schema.is(toolArguments.intercom_worker_status)
    for (const args of [{}, { offset: 0 }, { offset: 1000, limit: 1 }, { limit: 20, probe: true, name: "Ada" }]) {
      assert.isTrue(is(args), JSON.stringify(args))
    }
    for (const args of [{ offset: -1 }, { offset: 0.5 }, { limit: 0 }, { limit: 21 }, { limit: 1.5 }, { name: "" }]) {
      assert.isFalse(is(args), JSON.stringify(args))
    }
  })
})
