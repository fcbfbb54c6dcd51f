/**
 * Herdr's ids, derived from tmux's: workspace = session, tab = window, pane = pane. So they need no state, tmux never
 * gives one twice, and a pane keeps its terminal wherever it goes (facts/tmux).
 */
const next = (id: string): number => Number(id.slice(1)) + 1

export const workspaceId = (session: string): string => `w${next(session)}`
export const tabId = (session: string, window: string): string => `${workspaceId(session)}:t${next(window)}`
export const terminalId = (pane: string): string => `term-${next(pane)}`

/** `moves`: how often the pane went to another workspace, so that it does not get back an id that it had. */
export const paneId = (session: string, pane: string, moves: string): string =>
  `${workspaceId(session)}:p${next(pane)}${moves === "" ? "" : `m${moves}`}`

/** tmux's pane of an id; of an old id too, since a pane keeps its number. */
export const tmuxPane = (pane: string): string => `%${Number(/:p(\d+)/.exec(pane)?.[1] ?? 0) - 1}`

/** tmux's session of a workspace. */
export const tmuxSession = (workspace: string): string => `$${Number(workspace.slice(1)) - 1}`

/** The options of a tmux pane that hold what tmux does not know; the texts are percent-encoded. */
export const options = {
  label: "@herdr_label",
  agent: "@herdr_agent",
  agentSession: "@herdr_agent_session",
  moves: "@herdr_moves",
  typed: "@herdr_typed"
} as const

/**
 * The first program of a pane: sets what Herdr sets, hides tmux, and becomes the program of its arguments, or a shell.
 * `HERDR_SOCKET_PATH` and `HERDR_BIN_PATH` come from the server.
 */
const shim = `
set -- "$TMUX_PANE" $(tmux -S "$HERDR_SOCKET_PATH" display-message -p -t "$TMUX_PANE" '#{session_id} #{window_id}') "$@"
HERDR_WORKSPACE_ID=w$((\${2#?} + 1))
HERDR_TAB_ID=$HERDR_WORKSPACE_ID:t$((\${3#?} + 1))
HERDR_PANE_ID=$HERDR_WORKSPACE_ID:p$((\${1#?} + 1))
export HERDR_ENV=1 HERDR_WORKSPACE_ID HERDR_TAB_ID HERDR_PANE_ID
shift 3
unset TMUX TMUX_PANE TERM_PROGRAM TERM_PROGRAM_VERSION
[ $# -gt 0 ] || set -- "\${SHELL:-/bin/sh}"
exec "$@"`

/** tmux's arguments for a pane's program. */
export const inPane = (argv: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...["--", "/bin/sh", "-c", shim, "herdr-pane"],
  ...argv
]
