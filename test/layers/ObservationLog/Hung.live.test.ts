import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fs from "node:fs"
import { vi } from "vitest"
import { names, place, recorded, writer } from "./Place.ts"

/** How often something was appended, and whether the disk still answers. */
const disk = vi.hoisted(() => ({ appends: 0, hangs: false, full: false }))
vi.mock("node:fs", async (original: () => Promise<typeof Fs>) => {
  const real = await original()
  return {
    ...real,
    appendFile: (fd: number, text: string, done: Fs.NoParamCallback) => {
      disk.appends += 1
      if (disk.full) setImmediate(() => done(Object.assign(new Error("planted"), { code: "ENOSPC" })))
      else if (!disk.hangs) real.appendFile(fd, text, done)
    }
  }
})

describe("a log on a bad day", () => {
  it.scopedLive("appends once for all that wait", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { log } = yield* writer("s-1")
      disk.appends = 0
      for (let n = 0; n < 1000; n += 1) yield* log.record({ event: "config.changed" })
      yield* log.open(root)
      yield* recorded(logs, 1000)
      assert.strictEqual(disk.appends, 1)
    }))

  it.scopedLive("keeps nobody from ending when the disk hangs", () =>
    Effect.gen(function*() {
      const { root } = yield* place
      const { close, log } = yield* writer("s-1")
      disk.hangs = true
      yield* log.open(root)
      yield* log.record({ event: "config.changed" })
      yield* close(Exit.void)
      yield* log.record({ event: "config.changed" })
      disk.hangs = false
    }))

  it.scopedLive("ends with the first write that fails", () =>
    Effect.gen(function*() {
      const { logs, root } = yield* place
      const { close, log } = yield* writer("s-1")
      disk.full = true
      yield* log.open(root)
      yield* log.record({ event: "runtime.starting" })
      yield* close(Exit.void)
      disk.full = false
      assert.strictEqual(yield* log.dropped, 2)
      assert.lengthOf(names(logs), 1)
    }))
})
