import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fs from "node:fs"
import { join } from "node:path"
import { logName } from "../../../src/domain/LogFiles.ts"
import { picture } from "../../support/Planted.ts"
import { names, place, recorded, writer } from "./Place.ts"

const id = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`
const day = 24 * 60 * 60 * 1000

describe("pruning", () => {
  it.scopedLive("removes what is too old and nothing else, while others write", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { log } = yield* writer("s-1")
      yield* log.prune(root)
      assert.deepStrictEqual(names(logs), [])
      yield* log.open(root)
      yield* log.record({ event: "runtime.starting" })
      yield* recorded(logs, 1)
      const kept = names(logs)
      const now = yield* Clock.currentTimeMillis
      const put = (name: string, ageDays: number) => {
        fs.writeFileSync(join(logs, name), "{}\n")
        fs.utimesSync(join(logs, name), (now - ageDays * day) / 1000, (now - ageDays * day) / 1000)
      }
      put(`${logName(id(1))}.closed`, 8)
      put(`${logName(id(1))}.1`, 9)
      put(logName(id(2)), 30)
      put(`${logName(id(3))}.closed`, 6)
      put("mine.txt", 300)
      fs.mkdirSync(join(logs, logName(id(4))))
      yield* log.prune(root)
      assert.deepStrictEqual(names(logs), [...kept, "mine.txt", logName(id(4)), `${logName(id(3))}.closed`].sort())
    }))

  it.scopedLive("does not keep a session that was idle for long from being seen again", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      yield* log.open(root)
      yield* log.record({ event: "runtime.starting" })
      yield* recorded(logs, 1)
      const [name = ""] = names(logs)
      const then = (yield* Clock.currentTimeMillis) / 1000 - 8 * 24 * 60 * 60
      fs.utimesSync(join(logs, name), then, then)
      yield* log.prune(root)
      assert.deepStrictEqual(names(logs), [])
      yield* log.record({ event: "config.changed" })
      assert.deepStrictEqual((yield* recorded(logs, 1)).map(({ event }) => event), ["config.changed"])
      assert.deepStrictEqual(names(logs), [name])
      yield* close(Exit.void)
      assert.deepStrictEqual(names(logs), [`${name}.closed`])
    }))

  it.scopedLive("makes room below 32 MiB, oldest first", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { log } = yield* writer("s-1")
      fs.mkdirSync(logs)
      const now = yield* Clock.currentTimeMillis
      for (let n = 0; n < 40; n += 1) {
        const file = join(logs, `${logName(id(n))}.closed`)
        fs.writeFileSync(file, "")
        fs.truncateSync(file, 1024 * 1024)
        fs.utimesSync(file, now / 1000 - n * 60, now / 1000 - n * 60)
      }
      yield* log.prune(root)
      assert.deepStrictEqual(names(logs), Array.from({ length: 32 }, (_, n) => `${logName(id(n))}.closed`).sort())
    }))

  it.scopedLive("touches nothing behind a link", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { root: outside } = yield* place
      const { log } = yield* writer("s-1")
      fs.writeFileSync(join(outside, `${logName(id(1))}.closed`), "")
      fs.utimesSync(join(outside, `${logName(id(1))}.closed`), 0, 0)
      const before = picture(outside)
      fs.symlinkSync(outside, logs)
      yield* log.prune(root)
      fs.unlinkSync(logs)
      fs.mkdirSync(logs)
      fs.symlinkSync(join(outside, `${logName(id(1))}.closed`), join(logs, logName(id(1))))
      yield* log.prune(root)
      assert.deepStrictEqual(picture(outside), before)
      assert.lengthOf(names(logs), 1)
    }))
})
