import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import type { TmuxServer } from "../../test/support/TmuxServer.ts"
import type { Audience } from "./Timeline.ts"

/** Long enough to read a line and look at a screen. */
const readingTime = "1500 millis"

const leave = process.env["TMUX"] === undefined ? "Ctrl-b d" : "Ctrl-b Ctrl-b d"
/** Said before the screen changes. */
export const howToLeave =
  `You will see the team's tmux session, read-only. Leave it with ${leave}; the timeline is shown here afterwards.`

/** A status line has one line, and `#` begins a format in it. */
const plain = (told: string): string => (told.split("\n")[0] ?? "").replaceAll("#", "##")

/**
 * Shows a session of the demo's tmux server in this terminal, read-only, with the narration in the status lines, until
 * the person leaves, the server ends, or the scope does. What was told meanwhile is printed then.
 */
export const attach = (
  tmux: TmuxServer,
  session: string,
  print: (line: string) => void
): Effect.Effect<Audience, never, Scope.Scope> =>
  Effect.gen(function*() {
    const kept: Array<string> = []
    const state = { watching: true }
    const quietly = (...args: ReadonlyArray<string>) => Effect.ignore(tmux.run(args))

    yield* quietly("set-option", "-g", "status", "2")
    yield* quietly("set-option", "-g", "status-format[1]", "")
    yield* quietly("set-option", "-g", "status-right", ` read-only; leave with ${leave}`)
    // tmux refuses to attach from inside another tmux while TMUX is set.
    const { TMUX: _, TMUX_PANE: __, ...environment } = process.env
    const client = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn("tmux", ["-u", "-S", tmux.socket, "attach-session", "-r", "-t", session], {
          stdio: "inherit",
          env: environment
        })
      ),
      (started) =>
        Effect.async<void>((resume) => {
          if (started.exitCode !== null || started.signalCode !== null) return resume(Effect.void)
          started.on("close", () => resume(Effect.void))
          started.kill("SIGTERM")
        })
    )
    const left = () => {
      state.watching = false
      for (const line of kept.splice(0)) print(line)
    }
    client.on("close", left).on("error", left)

    return {
      tell: (line) => state.watching ? void kept.push(line) : print(line),
      focus: (pane) => state.watching ? quietly("select-window", "-t", pane.pane) : Effect.void,
      linger: (line) =>
        state.watching
          ? quietly("set-option", "-g", "status-format[1]", plain(line)).pipe(
            Effect.zipRight(Effect.sleep(readingTime))
          )
          : Effect.void
    }
  })
