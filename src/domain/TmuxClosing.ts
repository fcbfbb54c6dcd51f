import type { CloseAnswer, VerifiedPane } from "./PaneClosing.ts"

/**
 * The one command that closes a verified pane: its server itself compares server, life, first process and terminal and
 * kills the pane in one step, and says which of the two it did (spec 6.3, facts/tmux). Undefined for what no pane of
 * tmux is: all of it is read in tmux's own languages, so there are only digits and the path of a device.
 */
export const closePane = ({ firstPid = 0, paneId, terminalId, workspaceId }: VerifiedPane):
  | ReadonlyArray<string>
  | undefined =>
{
  const [, server] = /^tmux:([1-9]\d{0,9}):\d+$/.exec(workspaceId) ?? []
  const isPane = server !== undefined && /^%\d{1,10}$/.test(paneId) && /^\/dev\/[\w/]{1,250}$/.test(terminalId) &&
    Number.isSafeInteger(firstPid) && firstPid > 0
  return isPane
    ? [
      ...["if-shell", "-F", "-t", paneId],
      `#{&&:#{&&:#{==:#{pid},${server}},#{==:#{pane_dead},0}},` +
      `#{&&:#{==:#{pane_pid},${firstPid}},#{==:#{pane_tty},${terminalId}}}}`,
      `kill-pane -t ${paneId} ; display-message -p closed`,
      "display-message -p mismatch"
    ]
    : undefined
}

/** The answer of {@link closePane}. */
export const parseClosed = (code: number, stdout: string): CloseAnswer =>
  code === 0 && stdout === "closed\n" ? "closed" : code === 0 && stdout === "mismatch\n" ? "mismatch" : "unknown"
