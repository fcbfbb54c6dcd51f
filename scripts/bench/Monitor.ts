import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { logName } from "../../src/domain/LogFiles.ts"
import { type Observation, recordLine } from "../../src/domain/Observation.ts"
import type { SavedReport } from "../../src/domain/Report.ts"
import * as ConfigReader from "../../src/layers/ConfigReader/File.ts"
import { logsOf } from "../../src/layers/ObservationLog/Folder.ts"
import * as Reader from "../../src/layers/ObservationReader/File.ts"
import * as Reports from "../../src/layers/ReportStore/File.ts"
import { ObservationReader } from "../../src/services/ObservationReader.ts"
import { ReportStore } from "../../src/services/ReportStore.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { firstPaintHungMs, frameMs } from "./MonitorFrame.ts"
import { coordinatorId, place, team, workerId } from "./Team.ts"

const workers = 256
const turns = 20
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

const log = (n: number): string =>
  Array.from({ length: turns }).flatMap(() => turn).map((observation, index) =>
    Option.getOrThrow(
      recordLine({
        timestamp: new Date(began + index * 1000).toISOString(),
        writerId: writerId(n),
        sessionId: workerId(n)
      }, observation)
    )
  ).join("")

const report = (n: number): SavedReport => ({
  version: 1,
  sessionId: workerId(n),
  status: "ready_for_review",
  summary: "Looked through the module, mended what was broken and ran its tests. ".repeat(5),
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

/** 256 workers with a log of 200 records and a report each: read by a reader that knows nothing, and read again. */
export const figures = (folder: string) =>
  Effect.gen(function*() {
    const root = join(folder, "monitor")
    place(root, team(workers))
    const reports = yield* Effect.map(Layer.build(Reports.layer), (built) => Context.get(built, ReportStore))
    mkdirSync(logsOf(root), { mode: 0o700 })
    for (let n = 0; n < workers; n += 1) {
      const file = join(logsOf(root), logName(writerId(n)))
      writeFileSync(file, log(n), { mode: 0o600 })
      utimesSync(file, began / 1000 + 200, began / 1000 + 200)
      yield* reports.save(root, report(n))
    }
    const full = Effect.flatMap(fresh, (reader) => timed(refresh(reader, root)))
    const refreshed = yield* repeated(full, { warmUp: 10, counted: 21 })
    const reader = yield* fresh
    const again = yield* repeated(timed(refresh(reader, root)), { warmUp: 20, counted: 51 })
    return {
      "monitor.refreshMs": round(median(refreshed), 1),
      "monitor.unchangedMs": round(median(again), 1),
      "monitor.frameMs": yield* frameMs,
      "monitor.firstPaintHungMs": yield* firstPaintHungMs(folder)
    }
  })
