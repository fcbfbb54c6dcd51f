import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { IdentifiedProcess } from "./IdentifiedProcess.ts"
import type { Pane } from "./Pane.ts"
import { type Device, isAlive, isSameDevice, type ProcessFacts } from "./ProcessFacts.ts"
import { PaneId } from "./TmuxArguments.ts"

/** One row of `list-panes -a`: a pane has one for each session it is linked into. */
export interface PaneRow {
  readonly serverPid: number
  readonly dead: boolean
  readonly pane: PaneId
  readonly window: string
  readonly session: string
  /** Of the pane's first process; 0 in a pane without one, of an old process in a dead one (facts/tmux). */
  readonly panePid: number
  /** Empty in a pane without a process, and perhaps another pane's by now in a dead one (facts/tmux). */
  readonly tty: string
  readonly version: string
}

/** The format that {@link parsePanes} reads. */
export const paneFormat = "#{pid}|#{pane_dead}|#{pane_id}|#{window_id}|#{session_id}|#{pane_pid}|#{pane_tty}|#{version}"

const line = /^(\d{1,10})\|([01])\|(%\d+)\|(@\d+)\|(\$\d+)\|(\d{0,10})\|([^|]*)\|([^|]*)$/

const parseRow = (text: string): PaneRow | undefined => {
  const [, serverPid, dead, pane, window, session, panePid, tty, version] = line.exec(text) ?? []
  return pane === undefined || window === undefined || session === undefined || tty === undefined ||
      version === undefined
    ? undefined
    : {
      serverPid: Number(serverPid),
      dead: dead === "1",
      pane: PaneId.make(pane),
      window,
      session,
      panePid: Number(panePid),
      tty,
      version
    }
}

/** The rows of a `list-panes` answer; undefined when one is not whole: what it lacks would seem to be gone. */
export const parsePanes = (text: string): ReadonlyArray<PaneRow> | undefined => {
  const rows = text.split("\n").slice(0, -1).map(parseRow).filter((row) => row !== undefined)
  return rows.length === text.split("\n").length - 1 && (text === "" || text.endsWith("\n")) ? rows : undefined
}

/** The row of a pane: in the session it was opened in, if it is still there, else any. */
export const paneRow = (rows: ReadonlyArray<PaneRow>, pane: PaneId, session: string): PaneRow | undefined => {
  const own = rows.filter((row) => row.pane === pane)
  return own.find((row) => row.session === session) ?? own[0]
}

/** A tmux server as one process: its pid alone is given out again. */
export interface Server {
  readonly pid: number
  readonly startTicks: string
}

/** A server as the `workspaceId` of its panes, which can be in several sessions (spec 6.3). */
export const workspaceOf = (server: Server): string => `tmux:${server.pid}:${server.startTicks}`

/** The rows of a pane that is there, as one. */
export interface Found {
  readonly panePid: number
  readonly tty: string
  readonly sessions: ReadonlyArray<string>
}

/**
 * The pane in what its server said (spec 6.3): exactly that id, on that server, its rows agreeing, with that tty, not
 * dead. On the left what is not so.
 */
export const findPane = (rows: ReadonlyArray<PaneRow>, server: Server, pane: Pane): Either.Either<Found, string> => {
  if (pane.workspaceId !== workspaceOf(server) || rows.some((row) => row.serverPid !== server.pid)) {
    return Either.left("it belongs to another tmux server than this session")
  }
  const own = rows.filter((row) => row.pane === pane.paneId)
  const first = own[0]
  if (first === undefined) return Either.left("tmux has no such pane any more")
  const agrees = (row: PaneRow) =>
    row.dead === first.dead && row.panePid === first.panePid && row.tty === first.tty && row.window === first.window
  if (!own.every(agrees)) return Either.left("tmux says different things of it")
  if (first.dead || first.panePid === 0) return Either.left("its program has ended")
  if (first.tty !== pane.terminalId) return Either.left("it has another terminal now")
  return Either.right({ panePid: first.panePid, tty: first.tty, sessions: own.map((row) => row.session) })
}

/** What speaks against a process running in a found pane, whose tty is that device (spec 6.3); undefined: it does. */
export const notInPane = (found: Found, device: Device, process: ProcessFacts): string | undefined =>
  !isAlive(process)
    ? "its process has ended"
    : !isSameDevice(process.tty, device)
    ? "its process runs in another terminal"
    : process.session !== found.panePid
    ? "its process does not belong to what runs in that pane"
    : undefined

/** Whether a whole answer of that very server shows that it has no such pane. Its own caller's pane is always in one. */
export const lacksPane = (rows: ReadonlyArray<PaneRow>, serverPid: number, paneId: string): boolean =>
  rows.length > 0 && rows.every((row) => row.serverPid === serverPid && row.pane !== paneId)

/**
 * A server for a `PaneTrace`: its workspace id and what proves a process gone (spec 6.3), since a trace outlives
 * reboots and containers. Undefined where processes are known by their pid only.
 */
export const serverTrace = (server: IdentifiedProcess): string | undefined =>
  "bootId" in server
    ? `${workspaceOf(server)}:${server.bootId}:${server.machineId}:${server.pidNamespace}`
    : undefined

/** The server of a {@link serverTrace}; undefined for anything else. */
export const parseServerTrace = (text: string): IdentifiedProcess | undefined => {
  const [, pid, startTicks, bootId, machineId, pidNamespace] =
    /^tmux:(\d{1,16}):(\d{1,20}):([^:]+):([^:]*):(.+)$/.exec(text) ?? []
  return pidNamespace === undefined
    ? undefined
    : Option.getOrUndefined(
      Schema.validateOption(IdentifiedProcess)({ pid: Number(pid), startTicks, bootId, machineId, pidNamespace })
    )
}
