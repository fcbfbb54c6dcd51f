import * as Effect from "effect/Effect"
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { join } from "node:path"
import { Port } from "../../src/domain/Primitives.ts"
import { writeBuild } from "../../test/support/Built.ts"
import { node22 } from "../../test/support/HostVersions.ts"
import { median, repeated, timed } from "./Measure.ts"
import { observedTeam, workers } from "./ObservedTeam.ts"
import { team } from "./Team.ts"

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

/** A tmux that runs and waits for commands; it ends with the scope. */
const terminal = (socket: string) =>
  Effect.acquireRelease(
    Effect.async<ChildProcessWithoutNullStreams>((resume) => {
      const tmux = spawn("tmux", [
        "-u",
        "-C",
        "-S",
        socket,
        "-f",
        "/dev/null",
        "new-session",
        "-x",
        "120",
        "-y",
        "40",
        "cat"
      ])
      tmux.stdout.setEncoding("utf8").once("data", () => resume(Effect.succeed(tmux)))
    }),
    () => Effect.sync(() => execFileSync("tmux", ["-S", socket, "kill-server"]))
  )

/** From the command that starts the process in a terminal to the first frame with workers, as that terminal tells it. */
const firstFrame = (argv: ReadonlyArray<string>, tmux: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  Effect.async((resume) => {
    let seen = ""
    tmux.stdout.on("data", (text: string) => {
      seen += text
      if (/Worker \d/.test(seen)) resume(Effect.void)
    })
    tmux.once("exit", () => resume(Effect.dieMessage(`the monitor ended: ${seen}`)))
    tmux.stdin.write(`new-window ${argv.map((word) => `'${word}'`).join(" ")}\n`)
  })

/** Makes a team whose 256 endpoints take connections and never answer, as long as the scope lasts. */
export const hungTeam = (root: string) =>
  Effect.flatMap(hung, (servers) => {
    const config = team(workers)
    const agents = config.agents.map((agent, n) => ({ ...agent, port: Port.make(servers[n - 1]?.port ?? agent.port) }))
    return observedTeam(root, { ...config, agents })
  })

/**
 * The median time from the command to the first frame with workers of this team in a terminal, with the start of both of a
 * monitor's processes, in ms.
 */
export const startMs = (folder: string, root: string) =>
  Effect.gen(function*() {
    const dist = join(folder, "package/dist")
    mkdirSync(dist, { recursive: true })
    yield* writeBuild(dist)
    writeFileSync(join(folder, "package/package.json"), JSON.stringify({ version: "0.1.0" }))
    const argv = [node22, join(dist, "monitor.cjs"), "--root", root]
    let runs = 0
    const sample = Effect.scoped(Effect.flatMap(
      Effect.suspend(() => terminal(join(folder, `tmux-${runs += 1}`))),
      (tmux) => timed(firstFrame(argv, tmux))
    ))
    return Math.round(median(yield* repeated(sample, { warmUp: 1, counted: 9 })))
  })
