import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { PaneIdentity } from "../../domain/Envelope.ts"
import type { LaunchFailed } from "../../domain/Launch.ts"
import { formatTrace, IdentityFailed, type Pane, type PaneTrace } from "../../domain/Pane.ts"
import type { VerifiedPane } from "../../domain/PaneClosing.ts"
import { forbidden } from "../../domain/PaneRules.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { isAlive, type ProcessFacts } from "../../domain/ProcessFacts.ts"
import {
  findPane,
  lacksPane,
  notInPane,
  type PaneRow,
  parseServerTrace,
  serverTrace,
  workspaceOf
} from "../../domain/TmuxPanes.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"

/** What the server of this session answered just now, and the row of this session's pane in it, which is not dead. */
export interface Surroundings {
  readonly rows: ReadonlyArray<PaneRow>
  readonly own: PaneRow
}

const failed = (detail: string) => new IdentityFailed({ detail })

const pass = (problem: string | undefined): Effect.Effect<void, IdentityFailed> =>
  problem === undefined ? Effect.void : Effect.fail(failed(problem))

/**
 * Recognising panes of this session's tmux server (spec 6.3). `proven` asks the server; processes are looked at after
 * its answer, so that a server with the right start is the one that gave it.
 */
export const make = (processes: ProcessIdentity["Type"], proven: Effect.Effect<Surroundings, LaunchFailed>) => {
  /** Whether a process runs in that pane, of these rows. */
  const check = Effect.fnUntraced(function*(
    rows: ReadonlyArray<PaneRow>,
    server: ProcessFacts & { readonly pid: number },
    pane: Pane,
    process: ProcessFacts
  ) {
    const found = yield* Either.mapLeft(findPane(rows, server, pane), failed)
    yield* pass(notInPane(found, yield* processes.deviceOf(found.tty), process))
    return found
  })

  /** This session's pane, where its own process passes the check: then server and session share a pid namespace. */
  const place = Effect.fnUntraced(
    function*({ own, rows }: Surroundings) {
      const server = { ...(yield* processes.facts(own.serverPid)), pid: own.serverPid }
      yield* pass(isAlive(server) ? undefined : "its tmux server has ended")
      const process = yield* processes.facts(processes.own.pid)
      const pane: Pane = { workspaceId: workspaceOf(server), paneId: own.pane, terminalId: own.tty }
      yield* check(rows, server, pane, process)
      return { rows, session: own.session, server, pane, process }
    },
    Effect.mapError(({ detail }) =>
      failed(`this session does not run in the tmux pane that its environment names: ${detail}`)
    )
  )

  const here = proven.pipe(
    Effect.mapError(({ detail }) => failed(detail)),
    Effect.flatMap(place)
  )

  const verify = Effect.fn("Tmux.verify")(function*(worker: PaneIdentity, sessionId: SessionId) {
    const { pane, process: own, rows, server, session } = yield* here
    const process = yield* processes.facts(worker.pid)
    yield* pass(forbidden(worker, process, { pane, pid: processes.own.pid, sessionId, uid: own.uid }))
    const found = yield* check(rows, server, worker, process)
    yield* pass(found.sessions.includes(session) ? undefined : "it is not in this session's tmux session")
    const { paneId, workspaceId } = worker
    return { workspaceId, paneId, terminalId: found.tty, firstPid: found.panePid } satisfies VerifiedPane
  })

  /** Whether the pane of a trace is proven gone: by its server's process, or by that very server's answer. */
  const gone = Effect.fn("Tmux.gone")(function*({ paneId, workspaceId }: PaneTrace) {
    const server = parseServerTrace(workspaceId)
    if (server === undefined) return false
    const before = yield* processes.look(server)
    if (before !== "alive") return before === "gone"
    const answer = yield* Effect.option(proven)
    // The one that answered under its pid was this one only if this one still lives.
    return answer._tag === "Some" && lacksPane(answer.value.rows, server.pid, paneId) &&
      (yield* processes.look(server)) === "alive"
  })

  const isGone = ({ paneId, workspaceId: server }: VerifiedPane) => {
    const [, pid, startTicks] = /^tmux:(\d{1,16}):(\d{1,20})$/.exec(server) ?? []
    const workspaceId = startTicks === undefined
      ? undefined
      : serverTrace({ ...processes.own, pid: Number(pid), startTicks })
    return workspaceId === undefined ? Effect.succeed(false) : gone({ multiplexer: "tmux", workspaceId, paneId })
  }

  /** What a pane of this server is recognised by in {@link gone}; none where it could not be proven gone. */
  const trace = (surroundings: Surroundings, paneId: string) =>
    Effect.option(Effect.flatMap(place(surroundings), ({ server: { pid, startTicks } }) => {
      const workspaceId = serverTrace({ ...processes.own, pid, startTicks })
      return Effect.fromNullable(
        workspaceId === undefined ? undefined : formatTrace({ multiplexer: "tmux", workspaceId, paneId })
      )
    }))

  return { identify: Effect.map(here, ({ pane }) => pane), verify, gone, isGone, trace }
}
