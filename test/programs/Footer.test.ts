import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { ObservedStatus, Snapshot } from "../../src/domain/Snapshot.ts"
import { Footer } from "../../src/programs/Footer.ts"
import * as SnapshotScripted from "../support/SnapshotScripted.ts"
import { makeTeam } from "../support/TeamSteps.ts"

const seen = (observedStatus: ObservedStatus) =>
  SnapshotScripted.snapshot([SnapshotScripted.worker("Ada", { seen: { observedStatus } })], 0)

/** What is recorded of the team, and how often it was read. */
const makeRecords = () => {
  const records = { now: Effect.succeed<Snapshot>(seen("idle")), reads: 0 }
  const read = Effect.suspend(() => {
    records.reads += 1
    return records.now
  })
  return { records, layer: Layer.provide(Footer.layer, SnapshotScripted.layer(read)) }
}

type Session = Effect.Effect.Success<ReturnType<typeof makeTeam>>["coordinator"]

/** Begins a session's line, as its start does. */
const begin = (session: Session, layer: ReturnType<typeof makeRecords>["layer"]) =>
  Effect.scopeWith((scope) => session.inside(Layer.buildWithScope(layer, scope))).pipe(
    Effect.map((built) => Context.get(built, Footer))
  )

const soon = TestClock.adjust("300 millis")
/** Longer than a look that hangs, and the pause after it. */
const later = TestClock.adjust("11 seconds")

describe("the coordinator's line of the team", () => {
  it.scoped("is there while it coordinates workers, follows what is recorded, and goes with the session", () =>
    Effect.gen(function*() {
      const { coordinator } = yield* makeTeam("Ada")
      const { layer, records } = makeRecords()
      const footer = yield* begin(coordinator, layer)
      yield* soon
      assert.strictEqual(coordinator.host.status, "Intercom: 1 idle")
      records.now = Effect.succeed(seen("waiting"))
      yield* soon
      assert.strictEqual(coordinator.host.status, "Intercom: 1 idle")
      yield* footer.refresh
      yield* soon
      assert.strictEqual(coordinator.host.status, "Intercom: Ada waiting")
      records.now = Effect.succeed(seen("working"))
      yield* later
      assert.strictEqual(coordinator.host.status, "Intercom: 1 working")
      yield* coordinator.close
      assert.isUndefined(coordinator.host.status)
    }))

  it.scoped("is not there for a worker, nor without workers, and then nothing is read", () =>
    Effect.gen(function*() {
      const { coordinator, workers } = yield* makeTeam("Ada")
      const { layer, records } = makeRecords()
      for (const worker of workers) yield* begin(worker, layer)
      yield* coordinator.tool("intercom_remove_worker", { to: "Ada" })
      yield* begin(coordinator, layer)
      yield* later
      assert.deepStrictEqual([coordinator, ...workers].map(({ host }) => host.status), [undefined, undefined])
      assert.strictEqual(records.reads, 0)
    }))

  it.scoped("says so when the team file or what is recorded cannot be read, and recovers", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam("Ada")
      const { layer, records } = makeRecords()
      yield* begin(coordinator, layer)
      records.now = Effect.never
      yield* later
      assert.match(coordinator.host.status ?? "", /cannot be read now/)
      const whole = machine.world.files.get("/work") ?? ""
      machine.world.files.set("/work", "{")
      records.now = Effect.succeed({ ...seen("idle"), workers: [], errors: ["config_unavailable"] })
      yield* later
      assert.match(coordinator.host.status ?? "", /team file cannot be used/)
      machine.world.files.set("/work", whole)
      records.now = Effect.succeed(seen("idle"))
      yield* later
      assert.strictEqual(coordinator.host.status, "Intercom: 1 idle")
    }))

  it.scoped("reads once for a burst of events", () =>
    Effect.gen(function*() {
      const { coordinator } = yield* makeTeam("Ada")
      const { layer, records } = makeRecords()
      const footer = yield* begin(coordinator, layer)
      yield* soon
      const before = records.reads
      yield* Effect.repeatN(footer.refresh, 99)
      yield* soon
      assert.strictEqual(records.reads, before + 1)
    }))
})
