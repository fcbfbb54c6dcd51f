import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { initial, withSnapshot } from "../../monitor/State.ts"
import { coloured } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import type { ObservedStatus, WorkerView } from "../../src/domain/Snapshot.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { team } from "./Team.ts"

const workers = 256
const statuses: ReadonlyArray<ObservedStatus> = ["working", "thinking", "idle", "waiting", "closed"]

/** Everything that a row can show, of 256 workers. */
const views = (now: number): ReadonlyArray<WorkerView> =>
  team(workers).agents.slice(1).map((agent, n) => {
    const observedAt = new Date(now - n * 1000).toISOString()
    const observedStatus = statuses[n % statuses.length] ?? "unknown"
    return {
      agent,
      report: n % 4 === 0
        ? {
          version: 1,
          sessionId: agent.sessionId,
          status: "blocked",
          summary: "Waits for the registry.",
          updatedAt: observedAt
        }
        : undefined,
      seen: {
        observedStatus,
        evidence: n > 60 ? "stale" : "recent",
        observedAt,
        lastActivity: "Running multiple tools"
      }
    }
  })

/** The median of one 120x40 frame of 256 workers in ms; each a second later, so that none is the one before. */
const frameMs: Effect.Effect<number> = Effect.suspend(() => {
  const begin = Date.now()
  const state = withSnapshot(
    initial("/team"),
    { takenAt: begin, workers: views(begin), truncated: false, errors: [] },
    begin
  )
  let now = begin
  const frame = Effect.sync(() => {
    now += 1000
    return view(state, { width: 120, height: 40, now, version: "0.1.0", style: coloured })
  })
  return Effect.map(repeated(timed(frame), { warmUp: 100, counted: 400 }), (all) => round(median(all), 3))
})

NodeRuntime.runMain(Effect.flatMap(frameMs, (found) => Console.log(JSON.stringify({ "monitor.frameMs": found }))))
