import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { logName, maxLogBytes } from "../../src/domain/LogFiles.ts"
import { type Observation, recordLine } from "../../src/domain/Observation.ts"
import type { SavedReport } from "../../src/domain/Report.ts"
import * as ConfigReader from "../../src/layers/ConfigReader/File.ts"
import { logsOf } from "../../src/layers/ObservationLog/Folder.ts"
import * as Reader from "../../src/layers/ObservationReader/File.ts"
import * as Reports from "../../src/layers/ReportStore/File.ts"
import { ObservationReader } from "../../src/services/ObservationReader.ts"
import { ReportStore } from "../../src/services/ReportStore.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { coordinatorId, place, team, workerId } from "./Team.ts"

const workers = 256
const began = Date.parse("2026-01-01T00:00:00.000Z")

/** What a worker records of one turn: it is written to, thinks, uses tools, answers and reports. */
const turn: ReadonlyArray<Observation> = [
  { event: "transport.received", kind: "message", peerSessionId: coordinatorId },
  { event: "host.submission", outcome: "submitted" },
  { event: "host.activity", busy: true, phase: "working", detail: "processing" },
  { event: "host.activity", busy: true, phase: "tool", detail: "reading_files" },
  { event: "host.activity", busy: true, phase: "working", detail: "processing" },
  { event: "host.activity", busy: true, phase: "responding", detail: "responding" },
  { event: "transport.send", kind: "report", peerSessionId: coordinatorId },
  { event: "transport.receipt", kind: "report", peerSessionId: coordinatorId },
  { event: "host.activity", busy: true, phase: "working", detail: "processing" },
  { event: "host.activity", busy: false, phase: "idle", detail: "settled" }
]

const writerId = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`

/** Of worker 0, as long as a log becomes before it is rotated. */
const wholeLog: string = (() => {
  const turns: Array<string> = []
  let bytes = 0
  for (let index = 0; bytes < maxLogBytes - 4096;) {
    for (const observation of turn) {
      const head = {
        timestamp: new Date(began + index * 1000).toISOString(),
        writerId: writerId(0),
        sessionId: workerId(0)
      }
      const line = Option.getOrThrow(recordLine(head, observation))
      turns.push(line)
      bytes += line.length
      index += 1
    }
  }
  return turns.join("")
})()
const log = (n: number): string =>
  wholeLog.replaceAll(writerId(0), writerId(n)).replaceAll(`"${workerId(0)}"`, `"${workerId(n)}"`)

const report = (n: number): SavedReport => ({
  version: 1,
  sessionId: workerId(n),
  status: "ready_for_review",
  summary: "Looked through the module, mended what was broken and ran its tests. ".repeat(28),
  updatedAt: "2026-01-01T00:03:20.000Z"
})

/** A view in which not every worker is seen would be a figure of something else. */
class Unseen extends Data.TaggedError("Unseen")<{ readonly message: string }> {}

/** A reader that has read nothing yet. */
const fresh = Layer.build(
  Reader.layer.pipe(Layer.provideMerge(Layer.merge(ConfigReader.layer, Reports.layer)))
).pipe(Effect.map((built) => Context.get(built, ObservationReader)))

const refresh = (reader: ObservationReader["Type"], root: string) =>
  Effect.flatMap(reader.snapshot(root), (view) => {
    const seen = view.workers.filter(({ report, seen }) => seen.observedStatus === "idle" && report !== undefined)
    return seen.length === workers && !view.truncated && view.errors.length === 0
      ? Effect.void
      : Effect.fail(new Unseen({ message: `${seen.length} of ${workers} workers were seen` }))
  })

/**
 * 256 workers with a log and a report of nearly full size each: all of them read by a reader that knows nothing, and read
 * again.
 */
const figures = (folder: string) =>
  Effect.gen(function*() {
    const root = join(folder, "monitor")
    place(root, team(workers))
    const reports = yield* Effect.map(Layer.build(Reports.layer), (built) => Context.get(built, ReportStore))
    mkdirSync(logsOf(root), { mode: 0o700 })
    for (let n = 0; n < workers; n += 1) {
      const file = join(logsOf(root), logName(writerId(n)))
      writeFileSync(file, log(n), { mode: 0o600 })
      utimesSync(file, began / 1000, began / 1000)
      yield* reports.save(root, report(n))
    }
    const full = Effect.flatMap(fresh, (reader) => timed(refresh(reader, root)))
    const refreshed = yield* repeated(full, { warmUp: 10, counted: 21 })
    const reader = yield* fresh
    const again = yield* repeated(timed(refresh(reader, root)), { warmUp: 20, counted: 51 })
    return {
      "monitor.refreshMs": round(median(refreshed), 1),
      "monitor.unchangedMs": round(median(again), 1)
    }
  }).pipe(Effect.scoped, Effect.flatMap((found) => Console.log(JSON.stringify(found))))

NodeRuntime.runMain(figures(process.argv[2] ?? ""))
