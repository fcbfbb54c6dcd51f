import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { eventuallyTrue } from "./Eventually.ts"

/** A tmux call that failed: a mistake of the test. */
export class TmuxFailed extends Data.TaggedError("TmuxFailed")<{ readonly args: string; readonly detail: string }> {
  override get message(): string {
    return `tmux ${this.args}: ${this.detail}`
  }
}

/** A row of `list-panes -a`. */
export interface PaneRow {
  readonly pane: string
  readonly pid: number
  readonly session: string
  readonly window: string
  readonly dead: boolean
  readonly title: string
}

/** A real tmux server on a socket of its own. */
export interface TmuxServer {
  readonly socket: string
  readonly run: (args: ReadonlyArray<string>) => Effect.Effect<string, TmuxFailed>
  /** All panes but that of the anchor. */
  readonly panes: Effect.Effect<ReadonlyArray<PaneRow>, TmuxFailed>
  /** The pids of everything that lives with this server's environment, reparented processes included. */
  readonly processes: Effect.Effect<ReadonlyArray<number>>
}

const anchor = "anchor"
/** Keeps the server while this process lives and ends it after it, so that a killed test run leaves nothing running. */
const untilGone = "while kill -0 \"$1\" 2>/dev/null; do sleep 1; done; exec tmux -S \"$2\" kill-server"

const environOf = (pid: string): string => {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, "latin1")
  } catch {
    return ""
  }
}

/** A process that ended but was not waited for has an empty environment, so zombies do not count. */
const withEnvironment = (entry: string): ReadonlyArray<number> =>
  fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && `\0${environOf(name)}\0`.includes(`\0${entry}\0`))
    .map(Number)

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It ended between the look and the signal.
  }
}

/**
 * Starts a server whose panes get exactly `environment` (and what tmux adds). `environment.HOME` must be the test's
 * own: it marks the processes. When the scope ends, everything that was started is gone; what did not leave by itself
 * within 10 s after its terminal was closed is killed and is a defect.
 */
export const make = (
  directory: string,
  environment: Readonly<Record<string, string>>
): Effect.Effect<TmuxServer, TmuxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const socket = path.join(directory, "tmux")
    const run = (args: ReadonlyArray<string>) =>
      Effect.async<string, TmuxFailed>((resume) => {
        execFile(
          "tmux",
          ["-u", "-S", socket, "-f", "/dev/null", ...args],
          { env: { ...environment }, timeout: 10_000, maxBuffer: 4 << 20 },
          (error, stdout, stderr) =>
            resume(
              error === null
                ? Effect.succeed(stdout)
                : new TmuxFailed({ args: args.join(" "), detail: stderr.trim() || error.message })
            )
        )
      })
    const processes = Effect.sync(() => withEnvironment(`HOME=${environment["HOME"] ?? ""}`))

    yield* Effect.acquireRelease(
      run([
        ...["new-session", "-d", "-s", anchor, "-x", "20", "-y", "5", "--"],
        ...["/bin/sh", "-c", untilGone, "anchor", String(process.pid), socket]
      ]),
      () =>
        Effect.gen(function*() {
          yield* Effect.ignore(run(["kill-server"]))
          const gone = yield* Effect.either(
            eventuallyTrue(
              "the end of all processes",
              Effect.map(processes, (left) => left.length === 0),
              undefined,
              "10 seconds"
            )
          )
          if (gone._tag === "Right") return
          const left = yield* processes
          const names = left.map((pid) => `${pid} ${fs.readFileSync(`/proc/${pid}/cmdline`, "latin1")}`)
          for (const pid of left) kill(pid)
          return yield* Effect.dieMessage(`still running after the end of tmux: ${names.join("; ")}`)
        })
    )

    const format = "#{pane_id}|#{pane_pid}|#{pane_dead}|#{session_name}|#{window_name}|#{pane_title}"
    const panes = Effect.map(run(["list-panes", "-a", "-F", format]), (text) =>
      text.trim().split("\n").flatMap((line): ReadonlyArray<PaneRow> => {
        const [pane = "", pid = "", dead, session = "", window = "", ...title] = line.split("|")
        return session === anchor
          ? []
          : [{ pane, pid: Number(pid), dead: dead === "1", session, window, title: title.join("|") }]
      }))
    return { socket, run, panes, processes }
  })
