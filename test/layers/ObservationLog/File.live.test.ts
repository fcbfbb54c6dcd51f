import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as fs from "node:fs"
import { join } from "node:path"
import { maxLogBytes, maxWaiting } from "../../../src/domain/LogFiles.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { names, place, recorded, recordsIn, writer } from "./Place.ts"

const mode = (entry: string) => (fs.statSync(entry).mode & 0o777).toString(8)

describe("the log of a session", () => {
  it.scopedLive("is not there before there is a team, and begins with what was recorded until then", () =>
    Effect.gen(function*() {
      const { folder, logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      yield* log.record({ event: "runtime.starting" })
      yield* log.record({ event: "runtime.ready", role: "worker", port: 4711 })
      assert.deepStrictEqual(names(folder), [])
      yield* log.open(root)
      yield* log.open("/another/team")
      yield* log.record({ event: "host.activity", busy: true, phase: "tool", detail: "reading_files" })
      yield* recorded(logs, 3)
      const [name = ""] = names(logs)
      assert.match(name, /^writer-[0-9a-f-]{36}\.jsonl$/)
      assert.deepStrictEqual([mode(logs), mode(join(logs, name))], ["700", "600"])

      yield* close(Exit.void)
      assert.deepStrictEqual(names(logs), [`${name}.closed`])
      const head = { version: 1, writerId: name.slice(7, 43), sessionId: "s-1" } as const
      const records = recordsIn(join(logs, `${name}.closed`))
      assert.deepStrictEqual(records.map(({ timestamp: _, ...record }): unknown => record), [
        { ...head, event: "runtime.starting" },
        { ...head, event: "runtime.ready", role: "worker", port: 4711 },
        { ...head, event: "host.activity", busy: true, phase: "tool", detail: "reading_files" },
        { ...head, event: "runtime.closed" }
      ])
      yield* log.record({ event: "config.changed" })
      assert.strictEqual(yield* log.dropped, 1)
      assert.deepStrictEqual(names(logs), [`${name}.closed`])
    }))

  it.scopedLive("leaves nothing behind when the session ends without a team", () =>
    Effect.gen(function*() {
      const { close, log } = yield* writer("s-1")
      const { folder } = yield* place
      yield* log.record({ event: "runtime.starting" })
      yield* close(Exit.void)
      assert.deepStrictEqual(names(folder), [])
    }))

  it.scopedLive("keeps the newest 4096 records that wait, and counts the others", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      for (let port = 1; port <= maxWaiting + 10; port += 1) {
        yield* log.record({ event: "registration.received", peerSessionId: "p", port })
      }
      assert.strictEqual(yield* log.dropped, 10)
      yield* log.open(root)
      const records = yield* recorded(logs, maxWaiting)
      assert.deepStrictEqual([records.length, records[0]?.port, records.at(-1)?.port], [
        maxWaiting,
        11,
        maxWaiting + 10
      ])
      yield* close(Exit.void)
    }))

  it.scopedLive("never has one record of more than 4 KiB, and counts it", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { log } = yield* writer("\u0001".repeat(255) + "x")
      yield* log.open(root)
      // Six bytes of JSON for each character: 3.5 KiB with the two ids, and then what no session has.
      const peerSessionId = "\ud800".repeat(256)
      yield* log.record({ event: "registration.received", peerSessionId, port: 1 })
      const grown = { peerName: "\ud800".repeat(128), correlationId: "x".repeat(128) }
      yield* log.record({ event: "registration.received", peerSessionId, port: 2, ...grown })
      yield* log.record({ event: "runtime.starting" })
      const records = yield* recorded(logs, 2)
      assert.deepStrictEqual(records.map(({ event }) => event), ["registration.received", "runtime.starting"])
      assert.strictEqual(yield* log.dropped, 1)
    }))

  it.scopedLive("is rotated at 1 MiB, twice, and keeps the newest", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      yield* log.open(root)
      const [batch, batches] = [4000, 8]
      for (let n = 0; n < batches; n += 1) {
        for (let port = 1; port <= batch; port += 1) {
          yield* log.record({ event: "registration.received", peerSessionId: "p".repeat(100), port })
        }
        yield* log.record({ event: "registration.received", peerSessionId: `batch ${n}`, port: batch + 1 })
        yield* eventuallyTrue(
          "the batch is written",
          Effect.sync(() => {
            const current = names(logs).find((name) => name.endsWith(".jsonl"))
            return current !== undefined && fs.readFileSync(join(logs, current), "utf8").includes(`"batch ${n}"`)
          })
        )
      }
      yield* close(Exit.void)
      assert.strictEqual(yield* log.dropped, 0)
      const found = names(logs)
      assert.deepStrictEqual(found.map((name) => name.slice(43)), [".jsonl.1", ".jsonl.2", ".jsonl.closed"])
      for (const name of found) {
        assert.isAtMost(fs.statSync(join(logs, name)).size, maxLogBytes)
        assert.strictEqual(mode(join(logs, name)), "600")
      }
      const [first = "", second = "", last = ""] = found
      const records = [second, first, last].flatMap((name) => recordsIn(join(logs, name)))
      assert.strictEqual(records.at(-1)?.event, "runtime.closed")
      const ports = records.slice(0, -1).map((record) => record.port ?? 0)
      for (const [index, port] of ports.entries()) {
        if (index > 0) assert.strictEqual(port, (ports[index - 1] ?? 0) % (batch + 1) + 1)
      }
    }))

  it.scopedLive("tells the order of what happens within one millisecond", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      yield* log.open(root)
      for (let n = 0; n < 50; n += 1) {
        yield* log.record({ event: "host.activity", busy: n % 2 === 0, phase: "working", detail: "processing" })
      }
      yield* close(Exit.void)
      const times = recordsIn(join(logs, names(logs)[0] ?? "")).map(({ timestamp }) => timestamp)
      assert.lengthOf(times, 51)
      assert.lengthOf([...new Set(times)], 51)
      assert.deepStrictEqual(times.toSorted(), times)
    }))

  const refused: ReadonlyArray<readonly [string, (folder: string, logs: string, outside: string) => void, string]> = [
    ["a linked log folder", (_, logs, outside) => fs.symlinkSync(outside, logs), "a symbolic link"],
    ["a linked .pi-intercom", (folder, _, outside) => {
      fs.rmdirSync(folder)
      fs.symlinkSync(outside, folder)
    }, "a symbolic link"],
    ["a file in the folder's place", (_, logs) => fs.writeFileSync(logs, "mine"), "not a folder"],
    ["a folder that everybody may write to", (_, logs) => {
      fs.mkdirSync(logs)
      fs.chmodSync(logs, 0o777)
    }, "every user of this machine may write"],
    ["no team folder any more", (folder) => fs.rmdirSync(folder), "it does not exist"]
  ]
  for (const [what, plant, says] of refused) {
    it.scopedLive(`is not written for ${what}; that is said once, and recording goes on without it`, () => {
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      return Effect.gen(function*() {
        const { folder, logs, root } = yield* place
        const { root: outside } = yield* place
        plant(folder, logs, outside)
        const { close, log } = yield* writer("s-1")
        yield* log.record({ event: "runtime.starting" })
        yield* log.open(root)
        yield* log.record({ event: "config.changed" })
        yield* close(Exit.void)
        yield* log.record({ event: "config.changed" })
        assert.strictEqual(yield* log.dropped, 4)
        assert.lengthOf(said, 1)
        assert.include(said[0] ?? "", says)
        assert.deepStrictEqual(fs.readdirSync(outside), [".pi-intercom"])
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    })
  }
})
