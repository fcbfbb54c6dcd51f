import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { build } from "esbuild"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { temporaryFolder } from "../TempFolder.ts"
import * as Tmux from "../TmuxServer.ts"
import { type Call, callsFile, type Fault, type FaultsFile, faultsFile } from "./Faults.ts"
import { inPane, options, paneId, tabId, terminalId, tmuxPane, tmuxSession, workspaceId } from "./Names.ts"

/** A pane as its own environment names it. */
export interface HerdrPane {
  readonly workspace: string
  readonly tab: string
  readonly pane: string
  readonly terminal: string
  /** tmux's id of it, for hands and eyes. */
  readonly tmux: string
}

/** How one call of `herdr` ended. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * A stand-in for Herdr, which cannot be installed where the tests run: a program `herdr` that keeps Herdr's CLI
 * contract over a tmux server, so that tabs, panes and processes are real.
 */
export interface Herdr {
  readonly tmux: Tmux.TmuxServer
  /** The folder of the program, first in the PATH of every pane. */
  readonly bin: string
  /** What a program outside has to be given to reach this server; with a pane, what that pane has. */
  readonly variables: (pane?: HerdrPane) => Readonly<Record<string, string>>
  /** Calls `herdr`, from outside or as a program in a pane does. */
  readonly call: (args: ReadonlyArray<string>, from?: HerdrPane) => Effect.Effect<Ended>
  /** A new workspace of 140 by 44 with one pane, in which `argv` runs: a shell when it is absent. */
  readonly workspace: (
    directory: string,
    argv?: ReadonlyArray<string>
  ) => Effect.Effect<HerdrPane, Tmux.TmuxFailed>
  /** A person's new tab, with the focus. */
  readonly tab: (
    workspace: string,
    directory: string,
    argv?: ReadonlyArray<string>
  ) => Effect.Effect<HerdrPane, Tmux.TmuxFailed>
  /** Moves a pane into a new tab of another workspace; answers its new ids. */
  readonly move: (pane: HerdrPane, workspace: string) => Effect.Effect<HerdrPane, Tmux.TmuxFailed>
  /** What Herdr's integration for an agent reports of a pane. */
  readonly agent: (pane: HerdrPane, agent: string, session?: string) => Effect.Effect<void, Tmux.TmuxFailed>
  /** What goes wrong from now on, instead of what did. */
  readonly faults: (...faults: ReadonlyArray<Fault>) => Effect.Effect<void>
  /** Every call so far in order, hung ones included. */
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
}

/** One file that starts fast: from separate files node needs three times as long. */
const program = Effect.runSync(Effect.cached(Effect.promise(async () => {
  const built = await build({
    entryPoints: [path.join(import.meta.dirname, "program/main.ts")],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    write: false
  })
  return built.outputFiles.map((one) => one.text).join("")
})))

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Starts a server in `folder` whose panes get exactly `environment` (and what Herdr adds), with `herdr` on PATH;
 * `HOME` must be the test's own. With the scope everything in it ends (see TmuxServer).
 */
export const make = (
  folder: string,
  environment: Readonly<Record<string, string>>
): Effect.Effect<Herdr, Tmux.TmuxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const bin = path.join(folder, "bin")
    const file = path.join(bin, "herdr")
    fs.mkdirSync(bin)
    fs.writeFileSync(`${file}.cjs`, yield* program)
    // Its process is the one that was started: a signal reaches it.
    const script = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(`${file}.cjs`)} "$@"\n`
    fs.writeFileSync(file, script, { mode: 0o755 })

    const outside = {
      ...environment,
      PATH: `${bin}:${environment["PATH"] ?? ""}`,
      HERDR_SOCKET_PATH: path.join(folder, "tmux"),
      HERDR_BIN_PATH: file
    }
    const tmux = yield* Tmux.make(folder, outside)
    const variables: Herdr["variables"] = (pane) => ({
      ...outside,
      ...(pane === undefined ? {} : {
        HERDR_ENV: "1",
        HERDR_WORKSPACE_ID: pane.workspace,
        HERDR_TAB_ID: pane.tab,
        HERDR_PANE_ID: pane.pane
      })
    })

    const format = `#{session_id}|#{window_id}|#{pane_id}|#{${options.moves}}`
    const paneOf = (row: string): HerdrPane => {
      const [session = "", window = "", pane = "", moves = ""] = row.trim().split("|")
      return {
        workspace: workspaceId(session),
        tab: tabId(session, window),
        pane: paneId(session, pane, moves),
        terminal: terminalId(pane),
        tmux: pane
      }
    }
    const show = (pane: string) => Effect.map(tmux.run(["display-message", "-p", "-t", pane, format]), paneOf)
    const open = (command: ReadonlyArray<string>, directory: string, argv?: ReadonlyArray<string>) =>
      Effect.map(tmux.run([...command, "-c", directory, "-P", "-F", format, ...inPane(argv)]), paneOf)
    const set = (pane: string, option: string, text: string) =>
      tmux.run(["set-option", "-p", "-t", pane, option, encodeURIComponent(text)])

    const readCalls = (): ReadonlyArray<Call> => {
      const log = path.join(folder, callsFile)
      const lines = fs.existsSync(log) ? fs.readFileSync(log, "utf8").split("\n").slice(0, -1) : []
      return lines.map((line): Call => JSON.parse(line))
    }

    return {
      tmux,
      bin,
      variables,
      call: (args, from) =>
        Effect.async((resume) => {
          const child = execFile(
            file,
            [...args],
            { env: variables(from), timeout: 30_000, maxBuffer: 8 << 20 },
            (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode ?? -1, stdout, stderr }))
          )
          return Effect.sync(() => child.kill("SIGKILL"))
        }),
      workspace: (directory, argv) => open(["new-session", "-d", "-x", "140", "-y", "44"], directory, argv),
      tab: (workspace, directory, argv) => open(["new-window", "-t", `${tmuxSession(workspace)}:`], directory, argv),
      move: (pane, workspace) =>
        Effect.gen(function*() {
          const moves = Number(/m(\d+)$/.exec(pane.pane)?.[1] ?? 0)
          yield* set(pane.tmux, options.moves, String(moves + 1))
          yield* tmux.run(["break-pane", "-d", "-s", pane.tmux, "-t", `${tmuxSession(workspace)}:`])
          return yield* show(tmuxPane(pane.pane))
        }),
      agent: (pane, agent, session) =>
        Effect.zipRight(set(pane.tmux, options.agent, agent), set(pane.tmux, options.agentSession, session ?? "")),
      faults: (...faults) =>
        Effect.sync(() => {
          const text: FaultsFile = { after: readCalls().length, faults }
          const to = path.join(folder, faultsFile)
          fs.writeFileSync(`${to}.new`, JSON.stringify(text))
          fs.renameSync(`${to}.new`, to)
        }),
      calls: Effect.sync(readCalls)
    }
  })

/** A server in a folder of its own, which is the home of everything in it and goes with the scope. */
export const alone: Effect.Effect<Herdr & { readonly home: string }, Tmux.TmuxFailed, Scope.Scope> = Effect.gen(
  function*() {
    const home = yield* temporaryFolder
    const herdr = yield* make(home, {
      HOME: home,
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      TERM: "xterm-256color",
      LANG: "C.UTF-8"
    })
    return { ...herdr, home }
  }
)
