import type { LaunchRequest } from "./Launch.ts"
import { monitorTitle } from "./MonitorPane.ts"
import { inPane, PaneId } from "./TmuxArguments.ts"

/** A window of fewer rows has no room for a monitor (spec 5.6). */
export const minRows = 12

/** One row of `list-panes -a`, as far as the monitor's pane needs it. */
export interface MonitorRow {
  readonly serverPid: number
  readonly pane: PaneId
  readonly window: string
  readonly rows: number
  readonly zoomed: boolean
  /** Whether it was started as the monitor of that owner. */
  readonly owned: boolean
}

/** The end of a monitor's command that says whose it is: 24 hex digits of the session id's sha256 (spec 5.6). */
export const ownedBy = (owner: string): readonly [string, string] => ["--owner", owner]

/** The format that {@link parseMonitorRows} reads. tmux compares by itself: a start command may hold anything. */
export const monitorFormat = (owner: string): string =>
  "#{pid}|#{pane_id}|#{window_id}|#{window_height}|#{window_zoomed_flag}|" +
  `#{m:* ${ownedBy(owner).join(" ")}*,#{pane_start_command}}`

const line = /^(\d{1,10})\|(%\d+)\|(@\d+)\|(\d{1,6})\|([01])\|([01])$/

/** The rows of an answer in {@link monitorFormat}; undefined when one is not whole: what it lacks would seem to be gone. */
export const parseMonitorRows = (text: string): ReadonlyArray<MonitorRow> | undefined => {
  const parsed = text.split("\n").slice(0, -1).flatMap((one): ReadonlyArray<MonitorRow> => {
    const [, serverPid, pane, window, rows, zoomed, owned] = line.exec(one) ?? []
    return pane === undefined || window === undefined
      ? []
      : [{
        serverPid: Number(serverPid),
        pane: PaneId.make(pane),
        window,
        rows: Number(rows),
        zoomed: zoomed === "1",
        owned: owned === "1"
      }]
  })
  return text.endsWith("\n") && parsed.length === text.split("\n").length - 1 ? parsed : undefined
}

/** The owner's panes, each once: one in a window that several sessions show has a row for each. */
export const ownedPanes = (rows: ReadonlyArray<MonitorRow>): ReadonlyArray<MonitorRow> =>
  rows.filter((row, index) => row.owned && rows.findIndex(({ pane }) => pane === row.pane) === index)

/**
 * The `split-window` that puts the monitor above a pane, a quarter of it high; focus and zoom stay as they are (spec 5.6).
 * `-Z` would zoom a window that is not (facts/tmux).
 */
export const splitAbove = (
  pane: PaneId,
  zoomed: boolean,
  request: Omit<LaunchRequest, "root">
): ReadonlyArray<string> => [
  ...["split-window", "-b", "-v", "-l", "25%", "-d", ...(zoomed ? ["-Z"] : [])],
  ...["-P", "-F", "#{pane_id}|#{window_id}", "-t", pane],
  ...inPane(request)
]

/** Titles the monitor's pane; selects nothing. */
export const titlePane = (pane: PaneId): ReadonlyArray<string> => ["select-pane", "-t", pane, "-T", monitorTitle]
