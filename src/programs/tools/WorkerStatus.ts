import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Probe } from "../../domain/Probe.ts"
import type { SavedReport } from "../../domain/Report.ts"
import { target } from "../../domain/Roster.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import { type Agent } from "../../domain/TeamConfig.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import { ReportStore } from "../../services/ReportStore.ts"
import type { Member } from "../Membership.ts"

const maxPageBytes = 40_000
const meaning =
  "Observed from saved records, not asked. unknown says nothing was seen; idle is not done; a disconnected " +
  "endpoint does not prove that a process ended; reports are self-reported."

const ageSeconds = (iso: string, now: number): number | null => {
  const age = Math.floor((now - Date.parse(iso)) / 1000)
  return age < 0 ? null : age
}

const row = (
  agent: Agent,
  report: SavedReport | undefined,
  connection: { readonly probe: Probe; readonly checkedAt: string | null },
  now: number
) => ({
  sessionId: agent.sessionId,
  name: agent.name,
  observedStatus: "unknown",
  lastActivity: null,
  observedAt: null,
  observationAgeSeconds: null,
  stale: false,
  evidence: "missing",
  connection: { ...connection.probe, checkedAt: connection.checkedAt },
  report: report === undefined ? null : {
    status: report.status,
    summary: report.summary,
    updatedAt: report.updatedAt,
    ageSeconds: ageSeconds(report.updatedAt, now),
    selfReported: true
  },
  ...(agent.handoff === undefined ? {} : {
    handoff: {
      jobId: agent.handoff.jobId,
      summary: agent.handoff.summary,
      updatedAt: agent.handoff.updatedAt,
      ageSeconds: ageSeconds(agent.handoff.updatedAt, now),
      selfReported: true
    }
  }),
  ...(agent.closeJob === undefined ? {} : {
    closeJob: {
      jobId: agent.closeJob.jobId,
      state: agent.closeJob.state,
      ...(agent.closeJob.reason === undefined ? {} : { reason: agent.closeJob.reason }),
      updatedAt: agent.closeJob.updatedAt,
      deadlineAt: agent.closeJob.deadlineAt
    }
  })
})

/**
 * The saved roster with reports and, on request, probes of the page's workers (spec 7.5). What workers were seen to do
 * is `unknown`/`missing` until the observation log is built.
 */
export const workerStatus = Effect.fn("intercom_worker_status")(
  function*(standing: Member, args: ToolArguments<"intercom_worker_status">) {
    const offset = args.offset ?? 0
    const workers = standing.config.agents.filter((agent) => !agent.coordinator)
    let wanted: ReadonlyArray<Agent> = workers
    if (args.name !== undefined) {
      const found = target(standing.config, args.name, "", "worker")
      if (found instanceof Refused) return yield* found
      wanted = [found]
    }
    const page = wanted.slice(offset, offset + (args.limit ?? 10))
    const now = yield* Clock.currentTimeMillis
    const generatedAt = DateTime.formatIso(DateTime.unsafeMake(now))
    const reports = yield* (yield* ReportStore).read(standing.root, page.map((agent) => agent.sessionId))
    const probes = args.probe === true ? yield* (yield* IntercomClient).probeAll(standing.root, page) : []
    const checkedAt = DateTime.formatIso(yield* DateTime.now)
    const rows = page.map((agent, index) => {
      const probe: Probe = probes[index] ?? { state: "unknown", reason: "not_checked" }
      return row(agent, reports.get(agent.sessionId), {
        probe,
        checkedAt: probe.reason === "not_checked" ? null : checkedAt
      }, now)
    })
    const render = (count: number): string => {
      const shown = rows.slice(0, count)
      const last = (one: typeof rows[number]) => one.connection.state === "disconnected" ? 1 : 0
      return JSON.stringify(
        {
          version: 1,
          source: "local-observations",
          generatedAt,
          statusMeaning: meaning,
          truncated: false,
          errors: [],
          totalInSnapshot: wanted.length,
          offset,
          nextOffset: offset + count < wanted.length ? offset + count : null,
          workers: args.probe === true ? shown.toSorted((a, b) => last(a) - last(b)) : shown
        },
        null,
        2
      )
    }
    let count = rows.length
    while (count > 1 && new TextEncoder().encode(render(count)).length > maxPageBytes) count -= 1
    return render(count)
  }
)
