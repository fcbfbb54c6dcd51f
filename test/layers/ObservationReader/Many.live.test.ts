import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as fs from "node:fs"
import type { Observation } from "../../../src/domain/Observation.ts"
import { nextTurn } from "../../../src/layers/Turns.ts"
import { seenOf } from "./Contract.ts"
import { diskTeam, idle, lines, logFile, readers, reading, sent, working } from "./Place.ts"

const ids = Array.from({ length: 255 }, (_, n) => `worker-${n}`)
const many = (count: number, one: Observation): ReadonlyArray<Observation> => Array.from({ length: count }, () => one)

describe("many workers", () => {
  it.scopedLive("each of 255 shows its status, also beside one that wrote 5,000 events", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(ids)
      const now = yield* Clock.currentTimeMillis
      for (const [n, id] of ids.entries()) {
        fs.writeFileSync(logFile(logs, n), lines(id, [reading, idle], now, n).join(""))
      }
      const chatty = lines("worker-0", [...many(2500, sent), reading, ...many(2500, sent), idle], now, 0)
      fs.writeFileSync(logFile(logs, 0), chatty.join(""))
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([view.workers.length, view.errors], [255, []])
      for (const { agent, seen } of view.workers) {
        assert.strictEqual(seen.observedStatus, "idle")
        // What it read before its 2,500 messages lies farther back than is read of one worker.
        assert.strictEqual(seen.lastActivity, agent.sessionId === "worker-0" ? undefined : "Reading files")
      }
      assert.isTrue(view.truncated)
    }))

  it.scopedLive("a look can be interrupted between files, and the next one is whole", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(ids)
      const now = yield* Clock.currentTimeMillis
      for (const [n, id] of ids.entries()) fs.writeFileSync(logFile(logs, n), lines(id, [reading], now, n).join(""))
      const look = yield* Effect.fork(reader.snapshot(root))
      yield* nextTurn
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(look)))
      const view = yield* reader.snapshot(root)
      assert.isTrue(view.workers.every(({ seen }) => seen.observedStatus === "working"))
    }))

  it.scopedLive("many old logs of one worker hide neither its new one nor another worker", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(["ada", "ben"])
      const now = yield* Clock.currentTimeMillis
      for (let n = 10; n < 2000; n += 1) {
        const then = now - n * 60_000
        fs.writeFileSync(logFile(logs, n, ".closed"), lines("ada", [...many(20, sent), idle], then, n).join(""))
        fs.utimesSync(logFile(logs, n, ".closed"), then / 1000, then / 1000)
      }
      fs.writeFileSync(logFile(logs, 1), lines("ada", [reading, working], now, 1).join(""))
      fs.writeFileSync(logFile(logs, 2), lines("ben", [reading, idle], now, 2).join(""))
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual(
        ["ada", "ben"].map((id) => seenOf(view, id)?.observedStatus),
        ["working", "idle"]
      )
      assert.deepStrictEqual([view.truncated, view.errors], [false, []])
    }))

  it.scopedLive("what was rotated away is read when the rest does not decide the row", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(["ada"])
      const now = yield* Clock.currentTimeMillis
      fs.writeFileSync(logFile(logs, 1, ".2"), lines("ada", [reading], now - 60_000).join(""))
      fs.writeFileSync(logFile(logs, 1, ".1"), lines("ada", [working], now - 30_000).join(""))
      fs.writeFileSync(logFile(logs, 1), lines("ada", many(10, sent), now).join(""))
      const seen = () => Effect.map(reader.snapshot(root), (view) => seenOf(view, "ada"))
      const found = yield* seen()
      assert.deepStrictEqual([found?.observedStatus, found?.lastActivity], ["working", "Reading files"])
      assert.strictEqual(found?.observedAt, new Date(now - 30_000).toISOString())
      fs.appendFileSync(logFile(logs, 1), lines("ada", [idle], now).join(""))
      const later = yield* seen()
      assert.deepStrictEqual([later?.observedStatus, later?.lastActivity], ["idle", "Reading files"])
    }))

  it.scopedLive("of a log only what is new is read, and if it is too much, nothing old is taken for new", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(["ada"])
      const now = yield* Clock.currentTimeMillis
      const file = logFile(logs, 1)
      fs.writeFileSync(file, lines("ada", [reading, working], now - 9000).join(""))
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
      // The settling lies before more than is read of one worker.
      fs.appendFileSync(file, lines("ada", [idle, ...many(1000, sent)], now).join(""))
      const [known, fresh] = [yield* reader.snapshot(root), yield* (yield* readers).reader.snapshot(root)]
      assert.deepStrictEqual([known.truncated, fresh.truncated], [true, true])
      assert.strictEqual(seenOf(known, "ada")?.evidence, "missing")
      assert.deepStrictEqual(seenOf(known, "ada"), seenOf(fresh, "ada"))
      fs.appendFileSync(file, lines("ada", [working], now).join(""))
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
    }))

  it.scopedLive("when too much of the newest log is new, an older start of its session does not speak for it", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(["ada"])
      const now = yield* Clock.currentTimeMillis
      fs.writeFileSync(logFile(logs, 1), lines("ada", [reading, idle], now - 60_000, 1).join(""))
      fs.utimesSync(logFile(logs, 1), now / 1000 - 60, now / 1000 - 60)
      fs.writeFileSync(logFile(logs, 2), lines("ada", [working, ...many(1000, sent)], now, 2).join(""))
      for (const _ of ["the first look", "one that reads only what is new", "one more"]) {
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual([seenOf(view, "ada")?.evidence, view.truncated], ["missing", true])
        fs.appendFileSync(logFile(logs, 2), lines("ada", [sent], now, 2).join(""))
      }
      fs.appendFileSync(logFile(logs, 2), lines("ada", [working], now, 2).join(""))
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
    }))
})
