import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as TestClock from "effect/TestClock"
import { rowsOf } from "../../monitor/Row.ts"
import { session, type Size } from "../../monitor/Session.ts"
import { initial, type State, workersOf } from "../../monitor/State.ts"
import { bare } from "../../monitor/Style.ts"
import { watch } from "../../monitor/Watch.ts"
import { Port } from "../../src/domain/Primitives.ts"
import type { Probe } from "../../src/domain/Probe.ts"
import type { Snapshot } from "../../src/domain/Snapshot.ts"
import { type Endpoint, IntercomClient } from "../../src/services/IntercomClient.ts"
import * as SnapshotScripted from "../support/SnapshotScripted.ts"

const verified: Probe = { state: "connected", reason: "verified" }
const timeout: Probe = { state: "disconnected", reason: "timeout" }

const client = (probe: (endpoint: Endpoint) => Effect.Effect<Probe>): Layer.Layer<IntercomClient> =>
  Layer.succeed(IntercomClient, {
    send: () => Effect.dieMessage("a monitor sends nothing"),
    probe: (_, endpoint) => probe(endpoint),
    probeAll: () => Effect.dieMessage("a monitor shows each answer as it comes")
  })

const team = (size: number) =>
  Array.from({ length: size }, (_, n) => SnapshotScripted.worker(`w${n}`, { agent: { port: Port.make(2000 + n) } }))
const read = (size: number): Effect.Effect<Snapshot> =>
  Effect.map(Clock.currentTimeMillis, (now) => SnapshotScripted.snapshot(team(size), now))
const hang: Effect.Effect<Probe> = Effect.as(Effect.sleep(750), timeout)

const connections = (state: State, now: number): string =>
  rowsOf(workersOf(state), state.checks, now).map(({ connection, name }) => `${name} ${connection.state}`).join(", ")

/** Watches from now on; answers what is known at each moment. */
const watching = (reading: Effect.Effect<Snapshot>, probe: (endpoint: Endpoint) => Effect.Effect<Probe>) =>
  Effect.gen(function*() {
    const state = yield* SubscriptionRef.make(initial("/team"))
    const layers = Layer.merge(SnapshotScripted.layer(reading), client(probe))
    yield* Effect.forkScoped(Effect.provide(watch(state), layers))
    yield* TestClock.adjust(0)
    return Effect.zipWith(SubscriptionRef.get(state), Clock.currentTimeMillis, connections)
  })

describe("passes (spec 8)", () => {
  it.scoped("never overlap: the next starts 3 s after the last one ended, however long that took", () =>
    Effect.gen(function*() {
      const begun: Array<number> = []
      const slow = Effect.zipRight(
        Effect.map(Clock.currentTimeMillis, (now) => begun.push(now)),
        Effect.zipLeft(read(1), Effect.sleep("10 seconds"))
      )
      yield* Effect.asVoid(watching(slow, () => Effect.as(Effect.sleep(500), verified)))
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(begun, [0, 13_500, 27_000])
    }))

  it.scoped("show the files at once and each answer as it comes; who does not answer delays nobody", () =>
    Effect.gen(function*() {
      const now = yield* watching(
        read(3),
        ({ port }) => port === 2001 ? hang : Effect.as(Effect.sleep(port === 2000 ? 10 : 20), verified)
      )
      assert.strictEqual(yield* now, "w0 unknown, w1 unknown, w2 unknown")
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* now, "w0 connected, w1 unknown, w2 unknown")
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* now, "w0 connected, w1 unknown, w2 connected")
      yield* TestClock.adjust(730)
      assert.strictEqual(yield* now, "w0 connected, w2 connected, w1 disconnected")
    }))

  it.scoped("ask 16 at a time for 4 s at most, and next those who were not reached, so that nobody starves", () =>
    Effect.gen(function*() {
      let asking = 0
      let most = 0
      const asked: Array<Array<number>> = []
      const reading = Effect.zipRight(Effect.sync(() => asked.push([])), read(256))
      const probe = ({ port }: Endpoint) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            asking += 1
            most = Math.max(most, asking)
          }),
          () => Effect.tap(hang, () => Effect.sync(() => asked.at(-1)?.push(port - 2000))),
          () => Effect.sync(() => asking -= 1)
        )
      yield* Effect.asVoid(watching(reading, probe))
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(asking, 0)
      yield* TestClock.adjust("24 seconds")
      assert.strictEqual(most, 16)
      const answered = asked.slice(0, 4).flat()
      // Nobody is asked again before everybody has been; then those whose answer is oldest.
      assert.strictEqual(new Set(answered.slice(0, 256)).size, 256)
      assert.isAbove(answered.length, 300)
      assert.isTrue(answered.slice(256).every((n) => n < 80))
    }))

  it.scoped("drop what was asked at a port that is no longer the saved one", () =>
    Effect.gen(function*() {
      let port = 2000
      const reading = Effect.map(Clock.currentTimeMillis, (now) =>
        SnapshotScripted.snapshot([SnapshotScripted.worker("w", { agent: { port: Port.make(port) } })], now))
      const now = yield* watching(reading, (to) =>
        to.port === 2000 ? Effect.succeed(verified) : Effect.never)
      assert.strictEqual(yield* now, "w connected")
      port = 2001
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* now, "w unknown")
    }))
})

/** A session on a terminal that remembers. */
const shown = (reading: Effect.Effect<Snapshot>, probe: Effect.Effect<Probe>, size: Size) =>
  Effect.gen(function*() {
    const keys = yield* Queue.unbounded<string>()
    const ref = yield* SubscriptionRef.make(size)
    const events: Array<string> = []
    const terminal = {
      size: ref,
      keys,
      write: (text: string) => void events.push(text),
      leave: () => void events.push("left")
    }
    const layers = Layer.merge(SnapshotScripted.layer(reading), client(() => probe))
    const running = yield* Effect.fork(Effect.provide(session("/team", "1.2.3", terminal, bare), layers))
    yield* TestClock.adjust(0)
    return { events, keys, running, size: ref }
  })

describe("a session", () => {
  it.scoped("gives the terminal back first, and interrupts a hung read", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const hung = Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined))
      const { events, keys, running } = yield* shown(hung, Effect.succeed(verified), { width: 40, height: 5 })
      assert.include(events.join(""), "Reading the team")
      yield* Queue.offer(keys, "q")
      yield* Fiber.join(running)
      yield* Deferred.await(ended)
      assert.strictEqual(events.at(-1), "left")
    }))

  it.scoped("shows the files while no endpoint answers, and quits at once", () =>
    Effect.gen(function*() {
      const { events, keys, running } = yield* shown(read(256), Effect.never, { width: 80, height: 24 })
      yield* TestClock.adjust("30 millis")
      assert.include(events.join(""), "> w0")
      assert.include(events.join(""), "rows 1–21 of 256")
      yield* Queue.offer(keys, "escape")
      yield* Fiber.join(running)
    }))

  it.scoped("draws only what has changed, and everything anew at another size", () =>
    Effect.gen(function*() {
      const { events, running, size } = yield* shown(read(2), Effect.never, { width: 40, height: 5 })
      events.length = 0
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(events, [])
      yield* SubscriptionRef.set(size, { width: 30, height: 4 })
      yield* TestClock.adjust(0)
      assert.strictEqual(events.length, 1)
      assert.include(events[0], "\u001b[2J")
      assert.include(events[0], "\u001b[4;1H")
      assert.notInclude(events[0], "\u001b[5;1H")
      yield* Fiber.interrupt(running)
    }))
})
