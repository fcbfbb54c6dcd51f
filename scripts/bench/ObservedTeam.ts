import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { logName } from "../../src/domain/LogFiles.ts"
import { type Observation, recordLine } from "../../src/domain/Observation.ts"
import type { SavedReport } from "../../src/domain/Report.ts"
import { logsOf } from "../../src/layers/ObservationLog/Folder.ts"
import * as Reports from "../../src/layers/ReportStore/File.ts"
import { ReportStore } from "../../src/services/ReportStore.ts"
import { coordinatorId, place, team, workerId } from "./Team.ts"

export const workers = 256
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

/** Of 256 such logs a folder is as large as one may become before ended ones are pruned: 32 MiB (spec 7.1). */
const logBytes = 128 * 1024

/** The log of worker 0. */
const wholeLog: string = (() => {
  const turns: Array<string> = []
  let bytes = 0
  for (let index = 0; bytes < logBytes;) {
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

/** Makes this team of so many workers with a log and a report for each of them. */
export const observedTeam = (root: string, config = team(workers)) =>
  Effect.gen(function*() {
    place(root, config)
    const reports = yield* Effect.map(Layer.build(Reports.layer), (built) => Context.get(built, ReportStore))
    mkdirSync(logsOf(root), { mode: 0o700 })
    for (let n = 0; n < workers; n += 1) {
      const file = join(logsOf(root), logName(writerId(n)))
      writeFileSync(file, log(n), { mode: 0o600 })
      utimesSync(file, began / 1000, began / 1000)
      yield* reports.save(root, report(n))
    }
  })
