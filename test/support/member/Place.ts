import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { eventually } from "../Eventually.ts"
import type { HostVersion } from "../HostVersions.ts"
import { picture } from "../Planted.ts"
import { temporaryFolder } from "../TempFolder.ts"
import type { RealTmux } from "../Tmux.ts"

/** What runs in the place of Pi: says how it was started, then waits; ends at once while there is a file `die`. */
const program = `#!/bin/sh
here="\${0%/*}"
mkdir -p "$here/started/.$$"
printf '%s\\0' "$0" "$@" >"$here/started/.$$/argv"
readlink "/proc/$$/cwd" >"$here/started/.$$/cwd"
cat "/proc/$$/environ" >"$here/started/.$$/environ"
mv "$here/started/.$$" "$here/started/$$"
[ -e "$here/die" ] && exit 1
exec sleep 86400
`

/** How the program of a launch was started. */
export interface Started {
  readonly argv: ReadonlyArray<string>
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

const strings = (text: string): ReadonlyArray<string> => text.split("\0").slice(0, -1)

const agent = (sessionId: string, name: string, port: number) => ({
  sessionId,
  name,
  coordinator: name === "Coordinator",
  description: `${name} does things.`,
  port,
  projectDirectory: name === "Coordinator" ? "." : "api"
})

/** A team on disk that nobody works in: a coordinator `c-1`, and in `api` the workers Ada, `w-1`, and Ben, `w-2`. */
export const make = (tmux: RealTmux, version: HostVersion) =>
  Effect.gen(function*() {
    const base = yield* temporaryFolder
    const [home, agentDir, directory] = [join(base, "home"), join(base, "home/agent"), join(base, "root/api")]
    const [root, state, pi, started] = [
      join(base, "root"),
      join(base, "state"),
      join(base, "pi"),
      join(base, "started")
    ]
    const entry = join(base, "ours/dist/e.js")
    for (
      const folder of [started, agentDir, join(directory, ".pi"), join(base, "ours/dist"), join(root, ".pi-intercom")]
    ) {
      fs.mkdirSync(folder, { recursive: true })
    }
    fs.writeFileSync(pi, program, { mode: 0o755 })
    fs.writeFileSync(join(base, "ours/package.json"), JSON.stringify({ name: "pi-intercom-effect" }))
    fs.writeFileSync(entry, "export default () => undefined\n")

    const team = join(root, ".pi-intercom/config.json")
    const own = join(state, createHash("sha256").update(root).digest("hex").slice(0, 24))
    const ledger = join(own, "processes.json")
    const agents = [agent("c-1", "Coordinator", 21_431), agent("w-1", "Ada", 21_432), agent("w-2", "Ben", 21_433)]
    fs.writeFileSync(team, JSON.stringify({ version: 1, multiplexer: "tmux", agents }, null, 2), { mode: 0o644 })

    const environment = {
      HOME: home,
      PATH: process.env["PATH"] ?? "",
      PI_OFFLINE: "1",
      PI_CODING_AGENT_DIR: agentDir,
      PI_INTERCOM_PI: pi,
      PI_INTERCOM_STATE_DIR: state
    }
    /** Every program that was started so far, by its pid. */
    const records = () => fs.readdirSync(started).filter((name) => !name.startsWith("."))

    return {
      base,
      home,
      agentDir,
      root,
      state,
      directory,
      entry,
      pi,
      team,
      ledger,
      environment,
      /** The lock of a session. */
      lock: (id: string) => join(own, `session-${createHash("sha256").update(id).digest("hex").slice(0, 24)}.lock`),
      /** Makes the file `die` or `hang` exist, or not. */
      flag: (name: string, there: boolean) =>
        there ? fs.writeFileSync(join(base, name), "") : fs.rmSync(join(base, name)),
      open: (id: string, more: Readonly<Record<string, string>> = {}) => ({
        _tag: "Open" as const,
        id,
        directory: id === "c-1" ? root : directory,
        version,
        entry,
        environment: { ...environment, ...more }
      }),
      /** Changes the team file as an editor does. */
      edit: (change: (text: string) => string) => {
        fs.writeFileSync(`${team}~`, change(fs.readFileSync(team, "utf8")))
        fs.renameSync(`${team}~`, team)
      },
      records,
      /** How the program of a pane was started, once it has said so. */
      startedIn: (pane: string) =>
        Effect.gen(function*() {
          const pid = (yield* tmux.run(["display-message", "-p", "-t", pane, "#{pane_pid}"])).trim()
          const at = join(started, pid)
          return yield* eventually(
            `the program of ${pane}`,
            Effect.sync(() => fs.existsSync(at) ? Option.some(read(at)) : Option.none())
          )
        }),
      /** What a refusal may not change: the team, the ledger, and everything in the home folder, Pi's sessions among it. */
      untouched: () => ({
        team: fs.existsSync(team) ? fs.readFileSync(team, "utf8") : undefined,
        ledger: fs.existsSync(ledger) ? fs.readFileSync(ledger, "utf8") : undefined,
        // A coordinator that has just started may be looking for its monitor pane.
        locks: fs.readdirSync(own).filter((name) =>
          (name.endsWith(".lock") || name.includes("takeover")) && name !== "monitor.lock"
        ),
        home: picture(home)
      })
    }
  })

export type Place = Effect.Effect.Success<ReturnType<typeof make>>

const read = (at: string): Started => ({
  argv: strings(fs.readFileSync(join(at, "argv"), "utf8")),
  directory: fs.readFileSync(join(at, "cwd"), "utf8").trimEnd(),
  environment: Object.fromEntries(
    strings(fs.readFileSync(join(at, "environ"), "utf8")).map((line) => {
      const at = line.indexOf("=")
      return [line.slice(0, at), line.slice(at + 1)]
    })
  )
})
