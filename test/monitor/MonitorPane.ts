import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import { place, team } from "../../scripts/bench/Team.ts"
import { Port } from "../../src/domain/Primitives.ts"
import { writeBuild } from "../support/Built.ts"
import { eventually } from "../support/Eventually.ts"
import { node22 } from "../support/HostVersions.ts"
import { realTmux } from "../support/Tmux.ts"

/** The version in the manifest of the built monitor of a test. */
export const version = "7.8.9"

class NoLine extends Data.TaggedError("NoLine") {}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A root with a team, and a real tmux in which the built monitor can be started. */
export const make = (workers: number, ports: (n: number) => number = (n) => 1 + n, handoff?: string) =>
  Effect.gen(function*() {
    const tmux = yield* realTmux()
    const folder = tmux.folder
    const [root, state, dist] = ["root", "state", "package/dist"].map((name) => path.join(folder, name))
    if (root === undefined || state === undefined || dist === undefined) return yield* new NoLine()
    fs.mkdirSync(root)
    fs.mkdirSync(dist, { recursive: true })
    yield* writeBuild(dist)
    fs.writeFileSync(path.join(folder, "package/package.json"), JSON.stringify({ version }))
    const config = team(workers, handoff)
    const agents = config.agents.map((agent, n) => n === 0 ? agent : { ...agent, port: Port.make(ports(n - 1)) })
    place(root, { ...config, agents })
    const argv = [node22, path.join(dist, "monitor.cjs"), "--root", root]

    /**
     * A shell that says "before", runs the monitor (with `options` for Node), notes its exit code and what the terminal
     * was set to before and after, and stays.
     */
    const start = (
      { environment = {}, options = [], width = 80, height = 24 }: {
        readonly environment?: Readonly<Record<string, string>>
        readonly options?: ReadonlyArray<string>
        readonly width?: number
        readonly height?: number
      } = {}
    ) =>
      Effect.gen(function*() {
        const own = fs.mkdtempSync(path.join(folder, "pane-"))
        const [program = "", ...args] = argv
        // By `env`, since tmux has a TERM of its own for its panes.
        const variables = Object.entries({ PI_INTERCOM_STATE_DIR: state, ...environment }).map((pair) => pair.join("="))
        const command = ["env", ...variables, program, ...options, ...args].map(quoted).join(" ")
        const script = `stty -g > before; ${command} 2> errors; echo $? > code; stty -g > after; exec cat`
        const id = (yield* tmux.run([
          ...["new-session", "-d", "-P", "-F", "#{pane_id}", "-x", String(width), "-y", String(height), "-c", own],
          ...["--", "/bin/sh", "-c", `echo before the monitor; ${script}`]
        ])).trim()
        const lines = Effect.map(tmux.run(["capture-pane", "-p", "-t", id]), (text) => text.split("\n").slice(0, -1))
        const raw = tmux.run(["capture-pane", "-p", "-e", "-t", id])
        const seen = Effect.orElseSucceed(Effect.map(lines, (all) => all.join("\n")), () => "no pane")
        const noted = (name: string) => {
          const file = path.join(own, name)
          return eventually(
            name,
            Effect.sync(() => {
              const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : ""
              return text === "" ? Option.none<string>() : Option.some(text)
            }),
            seen
          )
        }
        const format = (text: string) =>
          Effect.map(tmux.run(["display-message", "-p", "-t", id, text]), (one) => one.trim())
        return {
          id,
          own,
          lines,
          raw,
          format,
          noted,
          /** Waits for a screen of which this is true, and answers it. */
          shows: (what: string, is: (lines: ReadonlyArray<string>) => boolean) =>
            eventually(what, Effect.map(lines, Option.liftPredicate(is)), seen),
          press: (...keys: ReadonlyArray<string>) => tmux.run(["send-keys", "-t", id, ...keys]),
          resize: (width: number, height: number) =>
            tmux.run(["resize-window", "-t", id, "-x", String(width), "-y", String(height)]),
          /** The process of the monitor. */
          pid: Effect.flatMap(format("#{pane_pid}"), (shell) =>
            eventually(
              "the monitor",
              Effect.sync(() => {
                const children = fs.readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim()
                return children === "" ? Option.none<number>() : Option.some(Number(children.split(" ")[0]))
              })
            ))
        }
      })
    return { folder, root, state, dist, argv, config: { ...config, agents }, start, tmux }
  })

/** Where a monitor can be started. */
export type Place = Effect.Effect.Success<ReturnType<typeof make>>
