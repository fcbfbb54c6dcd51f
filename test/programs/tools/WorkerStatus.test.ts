import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { Probe } from "../../../src/domain/Probe.ts"
import { coordinatorOf } from "../../../src/domain/TeamConfig.ts"
import { workerStatus } from "../../../src/programs/tools/WorkerStatus.ts"
import { IntercomClient } from "../../../src/services/IntercomClient.ts"
import { makeReportMemory } from "../../support/ReportMemory.ts"
import { decoded } from "../../support/TeamArbitrary.ts"

const agent = (name: string) => ({
  sessionId: name.toLowerCase(),
  name,
  coordinator: name === "Coordinator",
  description: "Works.",
  port: 41_000,
  projectDirectory: "."
})
const config = decoded(JSON.stringify({
  version: 1,
  multiplexer: "none",
  agents: ["Coordinator", "Ada", "Bob"].map(agent)
}))
const coordinator = coordinatorOf(config)
const standing = { role: "coordinator", root: "/team", config, self: coordinator, coordinator } as const

/** Probes that take three seconds, and do not come to the second worker. */
const slow = Layer.succeed(IntercomClient, {
  send: () => Effect.void,
  probe: () => Effect.die("not asked for"),
  probeAll: () =>
    Effect.delay(
      Effect.succeed<ReadonlyArray<Probe>>([
        { state: "connected", reason: "verified" },
        { state: "unknown", reason: "not_checked" }
      ]),
      3000
    )
})

describe("intercom_worker_status", () => {
  it.effect("says when the probes had run, and nothing of the time of one that did not run", () =>
    Effect.gen(function*() {
      const asked = yield* Effect.fork(workerStatus(standing, { probe: true }))
      yield* TestClock.adjust(3000)
      const { generatedAt, workers } = JSON.parse(yield* Fiber.join(asked))
      assert.strictEqual(generatedAt, "1970-01-01T00:00:00.000Z")
      assert.deepStrictEqual([workers[0].connection, workers[1].connection], [
        { state: "connected", reason: "verified", checkedAt: "1970-01-01T00:00:03.000Z" },
        { state: "unknown", reason: "not_checked", checkedAt: null }
      ])
    }).pipe(Effect.provide(Layer.merge(slow, makeReportMemory()))))
})
