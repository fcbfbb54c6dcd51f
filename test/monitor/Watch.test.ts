import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { News } from "../../monitor/News.ts"
import { rowsOf } from "../../monitor/Row.ts"
import { session } from "../../monitor/Session.ts"
import { initial, type State, withCheck, withSnapshot, workersOf } from "../../monitor/State.ts"
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
    let state = initial("/team", 0)
    const tell = (news: News) =>
      Effect.sync(() => {
        state = news._tag === "Read"
          ? withSnapshot(state, news.snapshot, news.at)
          : withCheck(state, news.endpoint, news.probe, news.at)
      })
    const layers = Layer.merge(SnapshotScripted.layer(reading), client(probe))
    yield* Effect.forkScoped(Effect.provide(watch("/team", tell), layers))
    yield* TestClock.adjust(0)
    return Effect.map(Clock.currentTimeMillis, (now) => connections(state, now))
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

  it.scoped("stand still while nobody takes what they tell, and then go on", () =>
    Effect.gen(function*() {
      const [told, waiting]: [Array<News["_tag"]>, Array<Deferred.Deferred<void>>] = [[], []]
      const tell = (news: News) =>
        Effect.gen(function*() {
          told.push(news._tag)
          const taken = yield* Deferred.make<void>()
          waiting.push(taken)
          yield* Deferred.await(taken)
        })
      const take = Effect.suspend(() =>
        Effect.forEach(waiting.splice(0), (taken) => Deferred.succeed(taken, undefined))
      )
      const layers = Layer.merge(SnapshotScripted.layer(read(256)), client(() => Effect.succeed(verified)))
      yield* Effect.forkScoped(Effect.provide(watch("/team", tell), layers))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(told, ["Read"])
      yield* take
      yield* TestClock.adjust("1 minute")
      // The batch, whose time is over, and a view.
      assert.deepStrictEqual(told.slice(1), [...Array.from({ length: 16 }, () => "Answered" as const), "Read"])
      yield* take
      yield* TestClock.adjust(0)
      assert.strictEqual(told.length, 1 + 17 + 16)
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

/** What a session draws at a time, of the size of a terminal. */
const begun = (...learned: ReadonlyArray<News>) => {
  const shown = session("/team", "1.2.3", bare, 0)
  for (const news of learned) shown.learn(news)
  return shown
}

const readAt = (size: number, at: number): News => ({
  _tag: "Read",
  snapshot: SnapshotScripted.snapshot(team(size), at),
  at
})

describe("a session", () => {
  const size = { width: 60, height: 5 }

  it("says that it reads while nothing is learned, and quits by its keys", () => {
    const shown = begun()
    assert.include(shown.draw(size, 0), "Reading the team")
    assert.strictEqual(shown.draw(size, 15_000), "")
    assert.include(shown.draw(size, 60_000), "Still reading the team in /team, begun 1m ago")
    assert.isFalse(shown.press("j", 60_000))
    assert.isTrue(shown.press("q", 60_000))
    assert.isTrue(begun(readAt(2, 0)).press("escape", 0))
  })

  it("marks what it shows when nothing more is learned, obeys keys meanwhile, and shows what comes later", () => {
    const shown = begun(readAt(2, 0))
    assert.include(shown.draw(size, 0), "> w0")
    assert.include(shown.draw(size, 20_000), "Not refreshed: this is the team of 20s ago")
    assert.isFalse(shown.press("j", 20_000))
    assert.include(shown.draw(size, 20_000), "> w1")
    shown.learn(readAt(3, 21_000))
    const text = shown.draw(size, 21_000)
    assert.include(text, "  w2")
    assert.notInclude(text, "Not refreshed")
  })

  it("marks that it found no team once nothing more is learned, and no more when something is", () => {
    const none = (at: number): News => ({
      _tag: "Read",
      snapshot: SnapshotScripted.snapshot([], at, { errors: ["config_unavailable"], noTeam: "no_file" }),
      at
    })
    const shown = begun(none(0))
    assert.notInclude(shown.draw(size, 15_000), "!")
    assert.include(shown.draw(size, 20_000), "! Not refreshed: this is what was found 20s ago")
    shown.learn(none(21_000))
    assert.notInclude(shown.draw(size, 21_000), "!")
  })

  it("shows the files while no endpoint has answered, and each answer", () => {
    const shown = begun(readAt(256, 0))
    const text = shown.draw({ width: 80, height: 24 }, 0)
    assert.include(text, "> w0")
    assert.include(text, "rows 1–21 of 256")
    const { agent } = SnapshotScripted.worker("w1", { agent: { port: Port.make(2001) } })
    shown.learn({ _tag: "Answered", endpoint: agent, probe: verified, at: 0 })
    assert.match(shown.draw({ width: 80, height: 24 }, 0), /w1 +connected/)
  })

  it("draws only what has changed, and everything anew at another size", () => {
    const shown = begun(readAt(2, 0))
    shown.draw(size, 0)
    assert.strictEqual(shown.draw({ ...size }, 2000), "")
    const text = shown.draw({ width: 30, height: 4 }, 2000)
    assert.include(text, "\u001b[2J")
    assert.include(text, "\u001b[4;1H")
    assert.notInclude(text, "\u001b[5;1H")
  })
})
