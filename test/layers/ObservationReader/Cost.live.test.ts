import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import type * as Fs from "node:fs"
import { vi } from "vitest"
import { report } from "../ReportStore/Contract.ts"
import { seenOf } from "./Contract.ts"
import { diskTeam, idle, lines, logFile, reading, sent } from "./Place.ts"

/** What was opened and read of the disk. */
const disk = vi.hoisted(() => ({ opened: 0, bytes: 0 }))
vi.mock("node:fs", async (original: () => Promise<typeof Fs>) => {
  const real = await original()
  return {
    ...real,
    openSync: (...args: Parameters<typeof Fs.openSync>) => {
      disk.opened += 1
      return real.openSync(...args)
    },
    readSync: (...args: [number, NodeJS.ArrayBufferView, number, number, number]) => {
      const count = real.readSync(...args)
      disk.bytes += count
      return count
    }
  }
})
const cost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    Object.assign(disk, { opened: 0, bytes: 0 })
    return Effect.map(effect, () => ({ ...disk }))
  })

const old = (file: string, at: number) => fs.utimesSync(file, at / 1000, at / 1000)

describe("reading again", () => {
  it.scopedLive("costs only what has grown, and opens nothing of what is unchanged", () =>
    Effect.gen(function*() {
      const { logs, reader, reports, root } = yield* diskTeam(["ada", "ben", "cleo"])
      const now = yield* Clock.currentTimeMillis
      const sends = Array.from({ length: 1500 }, () => sent)
      fs.writeFileSync(logFile(logs, 1), lines("ada", [reading, ...sends, idle], now).join(""))
      fs.writeFileSync(logFile(logs, 2), lines("ben", [reading, idle], now, 2).join(""))
      fs.writeFileSync(logFile(logs, 3), "no record\n")
      yield* reports.save(root, report("ben"))
      const files = fs.readdirSync(`${root}/.pi-intercom/reports`).map((name) => `${root}/.pi-intercom/reports/${name}`)
      for (const file of [...files, `${root}/.pi-intercom/config.json`]) old(file, now - 60_000)

      const first = yield* cost(reader.snapshot(root))
      // Team file, report, heads and tails; of ada at most 128 KiB of her 200 KB.
      assert.isAtLeast(first.bytes, 128 * 1024)
      assert.isAtMost(first.bytes, 128 * 1024 + 8 * 1024 + 16 * 1024)
      assert.deepStrictEqual(yield* cost(reader.snapshot(root)), { opened: 0, bytes: 0 })

      const more = lines("ada", [sent, reading], now).join("")
      fs.appendFileSync(logFile(logs, 1), more)
      assert.deepStrictEqual(yield* cost(reader.snapshot(root)), { opened: 1, bytes: more.length })
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.lastActivity, "Reading files")
      assert.deepStrictEqual(yield* cost(reader.snapshot(root)), { opened: 0, bytes: 0 })
    }))
})
