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

/** What a launched pane is recognised by later, as one line for the ledger (spec 5.5): `<multiplexer> <workspace> <pane>`. */
export const paneTrace = (multiplexer: string, pane: Pick<Pane, "workspaceId" | "paneId">): string =>
  `${multiplexer} ${pane.workspaceId} ${pane.paneId}`

/** The parts of a {@link paneTrace}; none for anything else. */
export const parseTrace = (
  trace: string
): { readonly multiplexer: string; readonly workspaceId: string; readonly paneId: string } | undefined => {
  const [multiplexer, workspaceId, paneId, more] = trace.split(" ")
  return multiplexer === undefined || workspaceId === undefined || paneId === undefined || more !== undefined
    ? undefined
    : { multiplexer, workspaceId, paneId }
}
