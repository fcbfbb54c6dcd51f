import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import type { Snapshot } from "../../../src/domain/Snapshot.ts"
import { nextTurn } from "../../../src/layers/Turns.ts"
import { cannot, picture, things } from "../../support/Planted.ts"
import { report } from "../ReportStore/Contract.ts"
import { seenOf } from "./Contract.ts"
import { diskTeam, idle, lines, logFile, readers, reading, sent, working, writerId } from "./Place.ts"

const statusOf = (view: Snapshot, id: string) => {
  const seen = seenOf(view, id)
  return [seen?.observedStatus, seen?.evidence, seen?.lastActivity]
}
const readingNow = ["working", "recent", "Reading files"]
const missing = ["unknown", "missing", undefined]

/** A team in which ben's log is as it should be, whatever is planted for ada. */
const withBen = Effect.gen(function*() {
  const team = yield* diskTeam(["ada", "ben"])
  const now = yield* Clock.currentTimeMillis
  fs.writeFileSync(logFile(team.logs, 2), lines("ben", [idle, reading], now, 2).join(""))
  const outside = join(team.base, "outside")
  fs.mkdirSync(outside)
  fs.writeFileSync(join(outside, "file"), lines("ada", [reading], now).join(""))
  return { ...team, now, outside, file: logFile(team.logs, 1) }
})

/** Another process that rotates a log all the time, while other files come and go; answers how often it has. */
const rotating = (work: {
  readonly file: string
  readonly log: string
  readonly other: string
  readonly others: ReadonlyArray<string>
}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const script = `
        const fs = require("node:fs")
        const { file, log, other, others } = JSON.parse(process.env.WORK)
        process.once("disconnect", () => process.exit())
        let rotations = 0
        const rotate = () => {
          fs.renameSync(file, file + ".1")
          fs.writeFileSync(file, log)
          fs.rmSync(others[rotations % 2], { force: true })
          fs.writeFileSync(others[(rotations + 1) % 2], other)
          process.send(++rotations)
          setImmediate(rotate)
        }
        rotate()`
      const child = spawn(process.execPath, ["-e", script], {
        env: { WORK: JSON.stringify(work) },
        stdio: ["ignore", "ignore", "inherit", "ipc"]
      })
      let rotations = 0
      child.on("message", (count) => (rotations = Number(count)))
      return { child, rotations: () => rotations }
    }),
    ({ child }) =>
      Effect.async<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  ).pipe(Effect.map(({ rotations }) => rotations))

describe("a log folder that others could have written", () => {
  for (const thing of things) {
    it.scopedLive.skipIf(cannot(thing) !== undefined)(
      `${thing.what} in a log's place hides nobody and is named`,
      () =>
        Effect.gen(function*() {
          const { file, outside, reader, root } = yield* withBen
          yield* thing.plant(file, outside)
          const before = picture(outside)
          for (const _ of ["first", "again"]) {
            const view = yield* reader.snapshot(root)
            assert.deepStrictEqual([statusOf(view, "ada"), statusOf(view, "ben")], [missing, readingNow])
            assert.deepStrictEqual([view.errors, view.truncated], [["log_read_failed"], false])
          }
          assert.deepStrictEqual(picture(outside), before)
        })
    )
  }

  const folders: ReadonlyArray<readonly [string, (logs: string, outside: string) => void]> = [
    ["a link to another folder", (logs, outside) => fs.symlinkSync(outside, logs)],
    ["a file", (logs) => fs.writeFileSync(logs, "")],
    ["a folder that everybody may write to", (logs) => {
      fs.mkdirSync(logs)
      fs.chmodSync(logs, 0o777)
    }]
  ]
  for (const [what, plant] of folders) {
    it.scopedLive(`${what} in its place is not read, and named`, () =>
      Effect.gen(function*() {
        const { file, logs, now, outside, reader, reports, root } = yield* withBen
        yield* reports.save(root, report("ada"))
        fs.writeFileSync(join(outside, file.slice(logs.length)), lines("ada", [reading], now).join(""))
        fs.renameSync(logs, `${logs}.real`)
        plant(logs, outside)
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual(view.errors, ["logs_unavailable"])
        assert.deepStrictEqual([statusOf(view, "ada"), statusOf(view, "ben")], [missing, missing])
        assert.deepStrictEqual(view.workers[0]?.report, report("ada"))
      }))
  }

  it.scopedLive("a folder of reports that is a link is not taken for one without reports", () =>
    Effect.gen(function*() {
      const { outside, reader, reports, root } = yield* withBen
      yield* reports.save(root, report("ada", { status: "needs_decision" }))
      const folder = join(root, ".pi-intercom", "reports")
      fs.renameSync(folder, `${folder}.real`)
      fs.symlinkSync(outside, folder)
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([view.errors, statusOf(view, "ben")], [["log_read_failed"], readingNow])
      assert.deepStrictEqual(view.workers.map((one) => [one.report, one.reportUnread]), [[undefined, true], [
        undefined,
        true
      ]])
      fs.unlinkSync(folder)
      fs.renameSync(`${folder}.real`, folder)
      const again = yield* reader.snapshot(root)
      assert.deepStrictEqual([again.errors, again.workers[0]?.report?.status], [[], "needs_decision"])
      assert.isUndefined(again.workers[0]?.reportUnread)
    }))

  it.scopedLive("is not read through a linked .pi-intercom, and neither is the team file", () =>
    Effect.gen(function*() {
      const { reader, root } = yield* withBen
      fs.renameSync(join(root, ".pi-intercom"), join(root, "moved"))
      fs.symlinkSync("moved", join(root, ".pi-intercom"))
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([view.workers, view.errors, view.noTeam], [[], ["config_unavailable"], "unusable"])
    }))

  const contents: ReadonlyArray<readonly [string, (now: number) => string | Buffer]> = [
    ["nothing", () => ""],
    ["no line that is complete", (now) => lines("ada", [reading], now).join("").slice(0, -1)],
    ["no JSON", () => "{\n}\n[\nnull\n\n"],
    ["broken UTF-8", () => Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a])],
    ["one line of zeros", () => Buffer.alloc(300_000)],
    ["one long line", (now) => `{"x":"${"x".repeat(300_000)}${lines("ada", [reading], now).join("")}`],
    [
      "records of another version",
      (now) => lines("ada", [reading], now).join("").replace("\"version\":1", "\"version\":2")
    ],
    [
      "records of events that nobody knows",
      (now) => lines("ada", [reading], now).join("").replace("host.activity", "host.dreams")
    ],
    [
      "times that do not exist",
      (now) => lines("ada", [reading], now).join("").replace(/\d{4}-\d\d-\d\dT/, "2026-13-41T")
    ],
    ["records of somebody else", (now) => lines("eve", [reading], now).join("") + lines("ada", [reading], now).join("")]
  ]
  for (const [what, content] of contents) {
    it.scopedLive(`a log with ${what} says nothing, and hides nobody`, () =>
      Effect.gen(function*() {
        const { file, now, reader, root } = yield* withBen
        fs.writeFileSync(file, content(now))
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual([statusOf(view, "ada"), statusOf(view, "ben")], [missing, readingNow])
        assert.deepStrictEqual(view.errors, [])
      }))
  }

  it.scopedLive("a log with broken lines among others is read without them", () =>
    Effect.gen(function*() {
      const { file, now, reader, root } = yield* withBen
      const [first = "", second = "", third = ""] = lines("ada", [working, reading, idle], now)
      const broken = Buffer.from([0xff, 0x0a])
      const other = lines("ben", [working], now + 500).join("")
      const long = `{"event":"host.activity","x":"${"x".repeat(5000)}"}\n`
      fs.writeFileSync(
        file,
        Buffer.concat([
          broken,
          ...[first, "{]\n", second, long, other, third, long, "\n", third.slice(0, 50)].map((text) =>
            Buffer.from(text)
          )
        ])
      )
      assert.deepStrictEqual(statusOf(yield* reader.snapshot(root), "ada"), ["idle", "recent", "Reading files"])
      // The rest of the line comes.
      fs.appendFileSync(file, third.slice(50) + lines("ada", [working], now).join(""))
      assert.deepStrictEqual(statusOf(yield* reader.snapshot(root), "ada")[1], "conflicting")
    }))

  it.scopedLive("a sparse log of 5 GB takes no longer than another", () =>
    Effect.gen(function*() {
      const { file, now, reader, root } = yield* withBen
      fs.writeFileSync(file, lines("ada", [reading], now).join(""))
      fs.truncateSync(file, 5 * 1024 ** 3)
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([statusOf(view, "ada"), statusOf(view, "ben")], [missing, readingNow])
      assert.isTrue(view.truncated)
      fs.appendFileSync(file, `\n${lines("ada", [reading, idle], now).join("")}`)
      assert.deepStrictEqual(statusOf(yield* reader.snapshot(root), "ada"), ["idle", "recent", "Reading files"])
    }))

  it.scopedLive("a time in the future is not believed", () =>
    Effect.gen(function*() {
      const { file, now, reader, root } = yield* withBen
      fs.writeFileSync(file, lines("ada", [idle, reading], now + 3_600_000).join(""))
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual(statusOf(view, "ada"), ["unknown", "clock_uncertain", "Reading files"])
      assert.strictEqual(seenOf(view, "ada")?.observedAt, new Date(now + 3_600_000).toISOString())
    }))

  it.scopedLive("two writers that contradict each other at one instant make the worker unknown", () =>
    Effect.gen(function*() {
      const { logs, now, reader, root } = yield* withBen
      fs.writeFileSync(logFile(logs, 1), lines("ada", [reading, idle], now).join(""))
      fs.writeFileSync(logFile(logs, 3), lines("ada", [idle, reading], now, 3).join(""))
      assert.deepStrictEqual(statusOf(yield* reader.snapshot(root), "ada").slice(0, 2), ["unknown", "conflicting"])
      fs.appendFileSync(logFile(logs, 1), lines("ada", [working], now + 1).join(""))
      assert.deepStrictEqual(statusOf(yield* reader.snapshot(root), "ada"), readingNow)
    }))

  it.scopedLive("of 10,000 entries 4096 are looked at, and that is said", () =>
    Effect.gen(function*() {
      const { logs, now, reader, root } = yield* withBen
      for (let n = 0; n < 10_000; n += 1) fs.writeFileSync(join(logs, `old-${n}.txt`), "")
      const view = yield* reader.snapshot(root)
      assert.deepStrictEqual([view.truncated, view.errors, view.workers.length], [true, [], 2])
      for (let n = 0; n < 10_000; n += 1) {
        fs.renameSync(join(logs, `old-${n}.txt`), join(logs, `writer-${writerId(n + 10)}.jsonl.closed`))
      }
      fs.writeFileSync(logFile(logs, 1), lines("ada", [reading], now).join(""))
      assert.isTrue((yield* reader.snapshot(root)).truncated)
    }))

  it.scopedLive("files that come, go and rotate while they are read never make it fail", () =>
    Effect.gen(function*() {
      const { file, logs, now, reader, root } = yield* withBen
      const log = lines("ada", [idle, reading, ...Array.from({ length: 40 }, () => sent)], now).join("")
      fs.writeFileSync(file, log)
      const other = lines("eve", [reading], now, 4).join("")
      const rotations = yield* rotating({ file, log, other, others: [logFile(logs, 4), logFile(logs, 5)] })
      let looks = 0
      while (rotations() < 300) {
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual([statusOf(view, "ada"), statusOf(view, "ben")], [readingNow, readingNow])
        assert.deepStrictEqual(view.errors, [])
        looks += 1
        yield* nextTurn
      }
      assert.isAbove(looks, 10)
    }))

  it.scopedLive("a reader that begins anew sees the same", () =>
    Effect.gen(function*() {
      const { file, now, reader, root } = yield* withBen
      for (const [index, observation] of [idle, reading, sent, working, idle].entries()) {
        fs.appendFileSync(file, lines("ada", [observation], now - 10_000 + index * 1000).join(""))
        const fresh = yield* readers
        const [known, anew] = [yield* reader.snapshot(root), yield* fresh.reader.snapshot(root)]
        assert.deepStrictEqual(seenOf(known, "ada"), seenOf(anew, "ada"))
      }
    }))
})
