import * as Effect from "effect/Effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { join } from "node:path"
import { initial, withSnapshot } from "../../monitor/State.ts"
import { coloured } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import { Port } from "../../src/domain/Primitives.ts"
import type { ObservedStatus, WorkerView } from "../../src/domain/Snapshot.ts"
import { writeBuild } from "../../test/support/Built.ts"
import { node22 } from "../../test/support/HostVersions.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { place, team } from "./Team.ts"

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
export const frameMs: Effect.Effect<number> = Effect.suspend(() => {
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

/** Takes connections and never answers them, on a port of its own for each worker. */
const hung = Effect.acquireRelease(
  Effect.promise(() =>
    Promise.all(
      Array.from({ length: workers }, () =>
        new Promise<{ readonly port: number; readonly close: () => void }>((resolve) => {
          const sockets = new Set<net.Socket>()
          const server = net.createServer((socket) =>
            void sockets.add(socket.on("error", () => undefined))
          )
          const close = () => {
            server.close()
            for (const socket of sockets) socket.destroy()
          }
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve({ port: typeof address === "object" ? address?.port ?? 0 : 0, close })
          })
        }))
    )
  ),
  (servers) => Effect.sync(() => servers.forEach(({ close }) => close()))
)

/** From the start of the process to the first frame with workers, as tmux tells it to a client that reads control mode. */
const firstFrame = (argv: ReadonlyArray<string>, socket: string): Effect.Effect<void> =>
  Effect.async((resume) => {
    const tmux = spawn("tmux", ["-u", "-C", "-S", socket, "-f", "/dev/null", "new-session", ...argv])
    let seen = ""
    tmux.stdout.setEncoding("utf8").on("data", (text: string) => {
      seen += text
      if (/Worker \d/.test(seen)) resume(Effect.void)
    })
    tmux.once("exit", () => resume(Effect.dieMessage(`the monitor ended: ${seen}`)))
    return Effect.sync(() => tmux.kill())
  })

/** The median of the first frame with 256 endpoints that take connections and never answer, in ms, with Node's start. */
export const firstPaintHungMs = (folder: string) =>
  Effect.gen(function*() {
    const servers = yield* hung
    const dist = join(folder, "package/dist")
    const root = join(folder, "hung")
    mkdirSync(dist, { recursive: true })
    yield* writeBuild(dist)
    writeFileSync(join(folder, "package/package.json"), JSON.stringify({ version: "0.1.0" }))
    const config = team(workers)
    const agents = config.agents.map((agent, n) => ({ ...agent, port: Port.make(servers[n - 1]?.port ?? agent.port) }))
    place(root, { ...config, agents })
    const argv = [node22, join(dist, "monitor.cjs"), "--root", root]
    let runs = 0
    const sample = Effect.acquireUseRelease(
      Effect.sync(() => join(folder, `tmux-${runs += 1}`)),
      (socket) => timed(firstFrame(argv, socket)),
      (socket) => Effect.sync(() => execFileSync("tmux", ["-S", socket, "kill-server"]))
    )
    return Math.round(median(yield* repeated(sample, { warmUp: 1, counted: 9 })))
  })
