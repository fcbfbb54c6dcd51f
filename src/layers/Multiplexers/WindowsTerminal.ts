import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { complaint } from "../../domain/Complaint.ts"
import { LaunchFailed, type LaunchRequest } from "../../domain/Launch.ts"
import * as PowerShell from "../../domain/PowerShell.ts"
import { CommandRunner } from "../../services/CommandRunner.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"
import { checkDirectory } from "./Directory.ts"
import { none } from "./Unavailable.ts"

const deadline = Duration.seconds(4)
const maxOutputBytes = 64 * 1024
/** cmd.exe takes lines of 8191 characters; the rest is for the quotes that are put around its arguments. */
const maxLine = 8_000

const failed = (reason: LaunchFailed["reason"], detail: string) => new LaunchFailed({ reason, detail })

/**
 * Windows without a multiplexer (spec 5.3): a new visible window that runs PowerShell. It is opened by cmd.exe's `start`,
 * which every Windows has and which shows it in the terminal program that the person chose as the default; `wt.exe` is
 * not on a plain Windows 10 and cuts its arguments at each `;`. Both programs are named by their whole path: Windows
 * would look for them in the project's folder first. All that the command holds is base64, so no quoting of cmd.exe
 * matters. Not run on a real Windows yet.
 */
export const make: Effect.Effect<Multiplexer, never, CommandRunner> = Effect.gen(function*() {
  const runner = yield* CommandRunner
  const variable = (name: string) => Effect.orDie(Config.option(Config.string(name)))
  const system = `${Option.getOrElse(yield* variable("SystemRoot"), () => "C:\\Windows")}\\System32`

  /** A window inherits this session's environment; only what differs needs room in the line. */
  const different = (environment: LaunchRequest["environment"]) =>
    Effect.map(
      Effect.filter(Object.entries(environment), ([name, value]) =>
        Effect.map(variable(name), (here) => Option.getOrUndefined(here) !== value)),
      (entries) =>
        Object.fromEntries(entries)
    )

  const launch = Effect.fn("WindowsTerminal.launch")(function*(request: LaunchRequest) {
    yield* checkDirectory(request.directory)
    const script = PowerShell.launchScript(
      { ...request, environment: yield* different(request.environment) },
      // The window is in no pane.
      ["PI_SESSION_*", "HERDR_*", "TMUX*"]
    )
    const args = [
      "/d",
      "/c",
      "start",
      // The title, or `start` would take a quoted program for one.
      "",
      `${system}\\WindowsPowerShell\\v1.0\\powershell.exe`,
      "-NoLogo",
      "-NoProfile",
      // The window stays when Pi cannot start, so that the person can read why.
      "-NoExit",
      "-EncodedCommand",
      PowerShell.encoded(script)
    ]
    if (args.join(" ").length > maxLine) {
      return yield* failed("too_long", "its command and environment together are longer than cmd.exe takes")
    }
    const ended = yield* Effect.mapError(
      runner.run({ program: `${system}\\cmd.exe`, args, deadline, maxOutputBytes }),
      (error) =>
        error.reason === "missing" || error.reason === "not_started"
          ? failed("missing_program", error.message)
          : failed("unknown", error.message)
    )
    if (ended.code !== 0) {
      const said = complaint(ended.stderr)
      return yield* failed("failed", `Windows opened no window${said === "" ? "" : `: ${said}`}`)
    }
    return { multiplexer: "none" as const, tab: "a new terminal window", pane: "a new terminal window" }
  })

  return { ...none, launch }
})
