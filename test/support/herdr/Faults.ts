/** Before the command has had its effect, or once it has: then its answer is lost. */
export type When = "before" | "after"

/** What can go wrong with one call of `herdr`. */
export type Trouble =
  /** Never ends by itself, as when Herdr's server is stuck. */
  | { readonly does: "hang"; readonly when: When }
  /** Ends with plain text on stderr, as for everything that is no answer of the server. */
  | { readonly does: "exit"; readonly when: When; readonly code: number; readonly text: string }
  /** Ends with a server error: `protocol_mismatch`, `server_not_running`, `internal_error`, … */
  | { readonly does: "refuse"; readonly when: When; readonly code: string }
  /** Goes on, but another program runs to its end first: something happens just then. */
  | { readonly does: "run"; readonly when: When; readonly argv: readonly [string, ...ReadonlyArray<string>] }
  /** Has its effect and exits with 0, but prints something else: no JSON, 2 MiB, half of the answer, nothing. */
  | { readonly does: "print"; readonly what: "garbage" | "oversized" | "truncated" | "nothing" }
  /** Answers with fields of a later version in every object, or with no optional field at all. */
  | { readonly does: "shape"; readonly as: "extended" | "minimal" }
  /** Types only so many characters into a pane whose shell is starting: one that nothing was typed into before. */
  | { readonly does: "cut"; readonly characters: number }
  /** Says of every pane that this agent runs there, with this session file: a stale `agent_session`, or no Pi. */
  | { readonly does: "agent"; readonly agent: string; readonly session?: string }

/** Trouble, and the calls that have it: of all commands unless one is named, each of them unless one is counted. */
export type Fault = Trouble & {
  /** The first two words, such as `pane run`. */
  readonly command?: string
  /** Only the n-th such call since the faults were set, from 1. */
  readonly nth?: number
}

/** The file that says what to break, read at each call. */
export interface FaultsFile {
  /** The calls that the log had when the faults were set. */
  readonly after: number
  readonly faults: ReadonlyArray<Fault>
}

/** One call of `herdr`, a line of the log. */
export interface Call {
  readonly pid: number
  /** The first two words. */
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** Beside the server's socket. */
export const faultsFile = "herdr-faults.json"
export const callsFile = "herdr-calls.jsonl"
