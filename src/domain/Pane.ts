import * as Data from "effect/Data"

/** A pane as its multiplexer tells it apart from every other one (spec 6.3). Opaque but for the multiplexer's adapter. */
export interface Pane {
  /** Herdr's workspace; `tmux:<server pid>:<server start ticks>` under tmux, where a pane can be in several sessions. */
  readonly workspaceId: string
  readonly paneId: string
  /** Herdr's terminal; the tty under tmux. */
  readonly terminalId: string
}

/** A pane or process that is not, or cannot be shown to be, what it was taken for: nothing may be done to it (spec 6.3). */
export class IdentityFailed extends Data.TaggedError("IdentityFailed")<{ readonly detail: string }> {
  override get message(): string {
    return `The pane could not be verified: ${this.detail}.`
  }
}

/** What a launched pane is recognised by later (spec 5.5); what the parts mean is its multiplexer's adapter's choice. */
export interface PaneTrace {
  readonly multiplexer: string
  readonly workspaceId: string
  readonly paneId: string
  /** Where a pane's id does not stay with it. */
  readonly terminalId?: string
}

/** A trace as one line for the ledger: its parts in order, none of which may hold a blank. */
export const formatTrace = ({ multiplexer, paneId, terminalId, workspaceId }: PaneTrace): string =>
  [multiplexer, workspaceId, paneId, ...(terminalId === undefined ? [] : [terminalId])].join(" ")

/** The trace of a line that {@link formatTrace} made; none for anything else. */
export const parseTrace = (line: string): PaneTrace | undefined => {
  const [, multiplexer, workspaceId, paneId, terminalId] = /^(\S+) (\S+) (\S+)(?: (\S+))?$/.exec(line) ?? []
  return multiplexer === undefined || workspaceId === undefined || paneId === undefined
    ? undefined
    : { multiplexer, workspaceId, paneId, ...(terminalId === undefined ? {} : { terminalId }) }
}
