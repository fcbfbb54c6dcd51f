import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Probe } from "../../domain/Probe.ts"
import { target } from "../../domain/Roster.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import type { WorkerView } from "../../domain/Snapshot.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import { ObservationReader } from "../../services/ObservationReader.ts"
import type { Member } from "../Membership.ts"

const maxPageBytes = 40_000
const longest: Probe = { state: "disconnected", reason: "identity_mismatch" }
const meaning =
  "Observed from saved records, not asked. unknown says nothing was seen; idle is not done; a disconnected " +
  "endpoint does not prove that a process ended; reports are self-reported."

const ageSeconds = (iso: string | undefined, now: number): number | null => {
  const age = iso === undefined ? -1 : Math.floor((now - Date.parse(iso)) / 1000)
  return age < 0 ? null : age
}

const row = (
  { agent, report, seen }: WorkerView,
  connection: { readonly probe: Probe; readonly checkedAt: string | null },
  now: number
) => ({
  sessionId: agent.sessionId,
  name: agent.name,
  observedStatus: seen.observedStatus,
  lastActivity: seen.lastActivity ?? null,
  observedAt: seen.observedAt ?? null,
  observationAgeSeconds: ageSeconds(seen.observedAt, now),
  stale: seen.evidence === "stale",
  evidence: seen.evidence,
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
 * The saved roster with reports, what each worker was last seen to do and, on request, probes of the page's workers
 * (spec 7.5). Asks no worker's model anything.
 */
export const workerStatus = Effect.fn("intercom_worker_status")(
  function*(standing: Member, args: ToolArguments<"intercom_worker_status">) {
    const offset = args.offset ?? 0
    const found = args.name === undefined ? undefined : target(standing.config, args.name, "", "worker")
    if (found instanceof Refused) return yield* found
    const view = yield* (yield* ObservationReader).snapshot(standing.root)
    const wanted = found === undefined
      ? view.workers
      : view.workers.filter(({ agent }) => agent.sessionId === found.sessionId)
    const page = wanted.slice(offset, offset + (args.limit ?? 10))
    const rowsOf = (probes: ReadonlyArray<Probe>, checkedAt: string) =>
      page.map((worker, index) => {
        const probe: Probe = probes[index] ?? { state: "unknown", reason: "not_checked" }
        return row(worker, { probe, checkedAt: probe.reason === "not_checked" ? null : checkedAt }, view.takenAt)
      })
    const render = (rows: ReturnType<typeof rowsOf>, count: number): string => {
      const shown = rows.slice(0, count)
      const last = (one: typeof rows[number]) => one.connection.state === "disconnected" ? 1 : 0
      return JSON.stringify(
        {
          version: 1,
          source: "local-observations",
          generatedAt: DateTime.formatIso(DateTime.unsafeMake(view.takenAt)),
          statusMeaning: meaning,
          truncated: view.truncated,
          errors: view.errors,
          totalInSnapshot: wanted.length,
          offset,
          nextOffset: offset + count < wanted.length ? offset + count : null,
          workers: args.probe === true ? shown.toSorted((a, b) => last(a) - last(b)) : shown
        },
        null,
        2
      )
    }
    // Who is on the page is settled first, by the longest answers there could be: nobody else is probed.
    const before = rowsOf(args.probe === true ? page.map(() => longest) : [], DateTime.formatIso(yield* DateTime.now))
    let count = before.length
    while (count > 1 && new TextEncoder().encode(render(before, count)).length > maxPageBytes) count -= 1
    if (args.probe !== true) return render(before, count)
    const agents = page.slice(0, count).map(({ agent }) => agent)
    const probes = yield* (yield* IntercomClient).probeAll(standing.root, agents)
    return render(rowsOf(probes, DateTime.formatIso(yield* DateTime.now)), count)
  }
)
