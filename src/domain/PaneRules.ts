import type { PaneIdentity } from "./Envelope.ts"
import type { Pane } from "./Pane.ts"
import type { SessionId } from "./Primitives.ts"
import { isAlive, type ProcessFacts } from "./ProcessFacts.ts"

/** The session that wants to close a pane. */
export interface Closer {
  readonly pane: Pane
  readonly pid: number
  readonly sessionId: SessionId
  readonly uid: number
}

/**
 * What spec 6.3 always forbids, under every multiplexer: closing oneself, another user's process, or a process other
 * than the one that said who it is. Undefined when nothing speaks against it.
 */
export const forbidden = (worker: PaneIdentity, process: ProcessFacts, closer: Closer): string | undefined =>
  worker.paneId === closer.pane.paneId || worker.terminalId === closer.pane.terminalId
    ? "it is this session's own pane"
    : worker.pid === closer.pid
    ? "its process is this session's own"
    : worker.sessionId === closer.sessionId
    ? "its session is this one"
    : process.uid !== closer.uid
    ? "its process belongs to another user"
    : process.startTicks !== worker.processStart || !isAlive(process)
    ? "its process has ended"
    : undefined
