import * as Data from "effect/Data"
import type { MultiplexerKind } from "./Primitives.ts"

/** What runs in a new tab: arguments and directory reach it exactly, whatever they contain (spec 5). */
export interface LaunchRequest {
  /** The team's root, in whose state folder a launch script may be kept. */
  readonly root: string
  /** Program and arguments; at least the program. */
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** The real directory it runs in; exists. */
  readonly directory: string
  /** Variables that are set in the child. */
  readonly environment: Readonly<Record<string, string>>
}

/** What was submitted: readiness is the worker's own registration, which nothing waits for. */
export interface Launched {
  readonly multiplexer: MultiplexerKind
  readonly tab: string
  readonly pane: string
  /** What the pane is recognised by later (`formatTrace`); absent where panes cannot be told to be gone. */
  readonly trace?: string
}

/** A launch that failed, or whose outcome is `unknown`; `left` names what it may have left behind (spec 5). */
export class LaunchFailed extends Data.TaggedError("LaunchFailed")<{
  readonly reason:
    | "not_inside"
    | "missing_program"
    | "unsupported"
    | "directory"
    | "other_copy"
    | "too_long"
    | "failed"
    | "unknown"
  readonly detail: string
  readonly left?: string
  /** The pane in which it may run all the same, as `Launched.trace`. */
  readonly trace?: string
  /** The team was published for this launch. */
  readonly published?: boolean
  /** The worker whose resume counts as open, since its launch may have happened (spec 5.5). */
  readonly open?: string
}> {
  override get message(): string {
    const unknown = mayHaveStarted(this)
    const effect = this.left !== undefined
      ? `${this.left} may have been left behind; nothing was cleaned up and nothing was tried again.`
      : !unknown
      ? "No tab was opened."
      : this.open === undefined
      ? "A tab may have been opened; look before you create another worker."
      : "A tab may have been opened."
    const team = this.published === true ? " The team file was published: this session is its coordinator now." : ""
    const open = this.open === undefined
      ? ""
      : ` The resume of ${this.open} counts as open until its status arrives` +
        `${this.trace === undefined ? "" : ", that pane is closed"} or the person, who has looked that its Pi does ` +
        `not run, runs /intercom resolve ${this.open}.`
    const outcome = unknown ? "It is not known whether the worker was launched" : "The worker was not launched"
    return `${outcome}: ${this.detail}. ${effect}${team}${open}`
  }
}

/** Whether a launch that failed may have started the worker all the same, and not only left a tab with a shell. */
export const mayHaveStarted = ({ reason }: Pick<LaunchFailed, "reason">): boolean => reason === "unknown"

/** A tab that could not be renamed; a warning, since the responsibility stays loaded (spec 3.2). */
export class TitleFailed extends Data.TaggedError("TitleFailed")<{ readonly detail: string }> {
  override get message(): string {
    return `The tab could not be renamed: ${this.detail}.`
  }
}
