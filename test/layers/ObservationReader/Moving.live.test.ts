import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import type * as Fs from "node:fs"
import { vi } from "vitest"
import { seenOf } from "./Contract.ts"
import { diskTeam, idle, lines, logFile, reading, sent, working } from "./Place.ts"

/** What happens once, just before a log is looked at or opened. */
const before = vi.hoisted(() => ({ look: new Array<() => void>(), open: new Array<() => void>() }))
vi.mock("node:fs", async (original: () => Promise<typeof Fs>) => {
  const real = await original()
  const isLog = (path: unknown) => String(path).endsWith(".jsonl")
  return {
    ...real,
    lstatSync: (...args: [Fs.PathLike, Fs.StatSyncOptions]) => {
      if (isLog(args[0])) before.look.pop()?.()
      return real.lstatSync(...args)
    },
    openSync: (...args: [Fs.PathLike, Fs.OpenMode]) => {
      if (isLog(args[0])) before.open.pop()?.()
      return real.openSync(...args)
    }
  }
})

describe("a log that moves while it is read", () => {
  const moves: ReadonlyArray<readonly [string, "look" | "open", (file: string, more: string) => void]> = [
    ["is closed after the folder was listed", "look", (file) => fs.renameSync(file, `${file}.closed`)],
    ["is closed after it was looked at", "open", (file) => fs.renameSync(file, `${file}.closed`)],
    ["is rotated after it was looked at", "open", (file, more) => {
      fs.renameSync(file, `${file}.1`)
      fs.writeFileSync(file, more)
    }]
  ]
  for (const [what, when, move] of moves) {
    it.scopedLive(`says the same when it ${what}`, () =>
      Effect.gen(function*() {
        const { logs, reader, root } = yield* diskTeam(["ada"])
        const now = yield* Clock.currentTimeMillis
        const file = logFile(logs, 1)
        fs.writeFileSync(file, lines("ada", [reading], now - 5000).join(""))
        assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
        fs.appendFileSync(file, lines("ada", [working], now - 1000).join(""))
        before[when].push(() => move(file, lines("ada", [sent], now).join("")))
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual([before[when].length, view.errors], [0, []])
        assert.deepStrictEqual(seenOf(view, "ada"), {
          observedStatus: "working",
          evidence: "recent",
          observedAt: new Date(now - 1000).toISOString(),
          lastActivity: "Reading files"
        })
      }))
  }

  it.scopedLive("says nothing when it cannot be read, and neither does an older one of its session", () =>
    Effect.gen(function*() {
      const { logs, reader, root } = yield* diskTeam(["ada"])
      const now = yield* Clock.currentTimeMillis
      const refuse = () => {
        throw Object.assign(new Error("refused"), { code: "EACCES" })
      }
      fs.writeFileSync(logFile(logs, 1), lines("ada", [idle], now - 60_000, 1).join(""))
      fs.utimesSync(logFile(logs, 1), now / 1000 - 60, now / 1000 - 60)
      fs.writeFileSync(logFile(logs, 2), lines("ada", [reading], now, 2).join(""))
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
      fs.appendFileSync(logFile(logs, 2), lines("ada", [working], now, 2).join(""))
      before.open.push(refuse, refuse)
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([before.open.length, view.errors, view.truncated], [0, ["log_read_failed"], false])
      assert.strictEqual(seenOf(view, "ada")?.evidence, "missing")
      assert.strictEqual(seenOf(yield* reader.snapshot(root), "ada")?.observedStatus, "working")
    }))
})
