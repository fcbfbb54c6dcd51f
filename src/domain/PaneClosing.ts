import type { Pane } from "./Pane.ts"

/** A pane as it was verified, and nothing else, is what may be closed (spec 6.4, invariant 2). */
export interface VerifiedPane extends Pane {
  /**
   * Under tmux the pane's first process, which is the session id of the process that was verified in it (spec 6.3), and
   * so not given out again while that one lives. Herdr does not compare one.
   */
  readonly firstPid: number | undefined
  /** Under Herdr the pane of the session that verified it: a list without that one is not whole. */
  readonly verifier?: Pane
}

/**
 * What is known of a close command. `closed`: the multiplexer says so. `mismatch`: tmux found another pane, process or
 * terminal than the verified one, and closed nothing. `not_started`: there was no command, so nothing happened.
 * `unknown`: it failed, was cut off or gave no readable answer; it may have closed the pane, or do so yet.
 */
export type CloseAnswer = "closed" | "mismatch" | "not_started" | "unknown"
