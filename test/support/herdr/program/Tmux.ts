import { spawnSync } from "node:child_process"
import { options, paneId, tabId, terminalId, workspaceId } from "../Names.ts"
import { Refused } from "./Endings.ts"

/** A pane of tmux, with Herdr's ids. */
export interface Row {
  readonly workspace: string
  readonly tab: string
  readonly id: string
  readonly terminal: string
  /** tmux's own names. */
  readonly session: string
  readonly window: string
  readonly pane: string
  readonly pid: number
  readonly tty: string
  readonly active: boolean
  readonly activeTab: boolean
  readonly rect: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
  readonly tabIndex: number
  readonly tabLabel: string
  readonly tabPanes: number
  readonly tabWidth: number
  readonly tabHeight: number
  readonly zoomed: boolean
  readonly layout: string
  readonly title: string
  readonly label: string
  readonly agent: string
  readonly agentSession: string
  readonly typed: boolean
}

const separator = "\u001f"
const fields = [
  ...["session_name", "session_id", "window_id", "pane_id", "pane_pid", "pane_tty", "pane_dead", "pane_active"],
  ...["window_active", "pane_left", "pane_top", "pane_width", "pane_height", "window_index", "window_name"],
  ...["window_panes", "window_width", "window_height", "window_zoomed_flag", "window_layout", "pane_title"],
  ...Object.values(options)
]
const format = fields.map((field) => `#{${field}}`).join(separator)
/** The session that keeps the server alive (TmuxServer.ts) is nothing that Herdr knows. */
const anchor = "anchor"

/** An argument that ends in `;` would end the tmux command. */
const literal = (argument: string): string => argument.endsWith(";") ? `${argument.slice(0, -1)}\\;` : argument

/** tmux expands formats in names and directories. */
export const unexpanded = (text: string): string => text.replaceAll("#", "##")

/** Runs a tmux command on the server behind `HERDR_SOCKET_PATH`; what tmux refuses is refused by that code. */
export const tmux = (code: string, ...args: ReadonlyArray<string>): string => {
  const socket = process.env["HERDR_SOCKET_PATH"]
  if (socket === undefined) throw new Refused("server_not_running", "no herdr server is running")
  const { TMUX: _, TMUX_PANE: __, ...environment } = process.env
  const ended = spawnSync("tmux", ["-u", "-S", socket, ...args.map(literal)], { encoding: "utf8", env: environment })
  if (ended.status === 0) return ended.stdout
  const complaint = ended.stderr.trim()
  throw /^(no server|error connecting)/.test(complaint)
    ? new Refused("server_not_running", "no herdr server is running")
    : new Refused(code, complaint)
}

const parse = (line: string): ReadonlyArray<Row> => {
  const values = line.split(separator)
  const field = (name: string): string => values[fields.indexOf(name)] ?? ""
  const number = (name: string): number => Number(field(name))
  const [session, window, pane] = [field("session_id"), field("window_id"), field("pane_id")]
  if (field("session_name") === anchor || field("pane_dead") === "1") return []
  return [{
    workspace: workspaceId(session),
    tab: tabId(session, window),
    id: paneId(session, pane, field(options.moves)),
    terminal: terminalId(pane),
    session,
    window,
    pane,
    pid: number("pane_pid"),
    tty: field("pane_tty"),
    active: field("pane_active") === "1",
    activeTab: field("window_active") === "1",
    rect: {
      x: number("pane_left"),
      y: number("pane_top"),
      width: number("pane_width"),
      height: number("pane_height")
    },
    tabIndex: number("window_index"),
    tabLabel: field("window_name"),
    tabPanes: number("window_panes"),
    tabWidth: number("window_width"),
    tabHeight: number("window_height"),
    zoomed: field("window_zoomed_flag") === "1",
    layout: field("window_layout"),
    title: field("pane_title"),
    label: decodeURIComponent(field(options.label)),
    agent: decodeURIComponent(field(options.agent)),
    agentSession: decodeURIComponent(field(options.agentSession)),
    typed: field(options.typed) !== ""
  }]
}

/** Every pane. */
export const rows = (): ReadonlyArray<Row> =>
  tmux("internal_error", "list-panes", "-a", "-F", format).split("\n").filter((line) => line !== "").flatMap(parse)

export const row = (id: string): Row => {
  const found = rows().find((one) => one.id === id)
  if (found === undefined) throw new Refused("pane_not_found", `pane ${id} not found`)
  return found
}

/** Makes a pane with a tmux command that ends before `-P`. */
export const create = (code: string, command: ReadonlyArray<string>, program: ReadonlyArray<string>): Row => {
  const made = tmux(code, ...command, "-P", "-F", format, ...program).split("\n").flatMap(parse)[0]
  if (made === undefined) throw new Refused(code, "no pane was made")
  return made
}

export const setOption = (pane: Row, option: string, text: string): void =>
  void tmux("internal_error", "set-option", "-p", "-t", pane.pane, option, encodeURIComponent(text))
