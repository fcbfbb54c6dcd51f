import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { witnessed } from "./config-witness/Witnessed.ts"
import { temporaryFolder } from "./TempFolder.ts"
import * as TmuxServer from "./TmuxServer.ts"

/** A real tmux server with one session, and the pane in it that plays ours. */
export interface RealTmux extends TmuxServer.TmuxServer {
  /** A real, empty folder of this test; `HOME` of everything in the server. */
  readonly folder: string
  readonly serverPid: number
  /** `TMUX` and `TMUX_PANE` as that pane has them. */
  readonly variables: { readonly TMUX: string; readonly TMUX_PANE: string }
}

/** A server with a clean environment and `extra`; everything in it is gone when the scope ends (see TmuxServer). */
export const realTmux = (
  extra: Readonly<Record<string, string>> = {}
): Effect.Effect<RealTmux, TmuxServer.TmuxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = yield* temporaryFolder
    const server = yield* TmuxServer.make(folder, {
      HOME: folder,
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      ...witnessed(),
      ...extra
    })
    const answer = yield* server.run(["list-panes", "-a", "-F", "#{pid}|#{session_id}|#{pane_id}"])
    const [pid = "", session = "", pane = ""] = answer.trim().split("|")
    return {
      ...server,
      folder,
      serverPid: Number(pid),
      variables: { TMUX: `${server.socket},${pid},${session.slice(1)}`, TMUX_PANE: pane }
    }
  })
