import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { LaunchRequest } from "./Launch.ts"
import type { SessionId } from "./Primitives.ts"

/** The title of a monitor pane. It proves nothing (spec 5.6). */
export const monitorTitle = "Intercom monitor"

/** What is to run in the monitor pane that belongs to a coordinator's session. */
export interface MonitorRequest extends LaunchRequest {
  readonly sessionId: SessionId
}

/** The monitor pane of a session: it was there and stays as it is, or is new. */
export interface MonitorPlaced {
  readonly outcome: "kept" | "created"
  readonly pane: string
}

/** Says of a pane, by its id where it is known, that it may be there. */
export const leftBehind = (pane?: string): string =>
  `${pane === undefined ? "A new pane in this tab" : `The pane ${pane}`} may have been left behind`

/** Why a monitor pane is not certain to be there. Never more than a warning: everything else works without it. */
export class MonitorFailed extends Data.TaggedError("MonitorFailed")<{
  /**
   * `none`: there is none, and nothing was created. `doubt`: what is there was left alone. `left`: it was begun, and
   * nothing was cleaned up.
   */
  readonly reason: "none" | "doubt" | "left"
  readonly detail: string
  /** What there is now of one that was begun, as the begin of a sentence. */
  readonly left?: string
  /** What the person can do, as a sentence. */
  readonly mend?: string
}> {
  override get message(): string {
    const mend = this.mend === undefined ? "" : ` ${this.mend}`
    switch (this.reason) {
      case "none":
        return `There is no monitor pane: ${this.detail}. Nothing was created; messages work without it.${mend}`
      case "doubt":
        return `The monitor pane was left alone: ${this.detail}. Nothing was created or changed; messages work without it.${mend}`
      case "left":
        return `The monitor pane could not be finished: ${this.detail}. ${this.left ?? leftBehind()}; nothing was ` +
          `cleaned up and messages work without it.${mend}`
    }
  }
}

/** There is no monitor pane, for that reason. */
export const noMonitor = (detail: string): MonitorFailed => new MonitorFailed({ reason: "none", detail })

/** What a person has to have done before a new one is made. */
export const onceDone = (what: string): string => `Once you have ${what}, /reload makes a new one.`

/** A pane that is in a tab. */
export interface PaneInTab {
  readonly pane: string
  readonly tab: string
}

const doubt = (detail: string, mend: string) => Either.left(new MonitorFailed({ reason: "doubt", detail, mend }))

const list = (panes: ReadonlyArray<string>): string => panes.join(" and ")

/**
 * What to do for a coordinator in `tab` (spec 5.6, rules 2 to 4), given every pane that is its monitor's and the panes in
 * that tab that only look like it: the pane to keep, or undefined for a new one. Fails with what is doubtful.
 */
export const decide = (
  owned: ReadonlyArray<PaneInTab>,
  tab: string,
  strangers: ReadonlyArray<string> = []
): Either.Either<string | undefined, MonitorFailed> => {
  const [own, ...more] = owned
  if (own !== undefined && more.length > 0) {
    return doubt(
      `there is more than one, ${list(owned.map(({ pane }) => pane))}`,
      "Close all but one of them, which has to be in this session's tab; then run /reload."
    )
  }
  if (own !== undefined && own.tab !== tab) {
    return doubt(
      `it is the pane ${own.pane}, which is in another tab than this session, ${own.tab}`,
      "Move it back or close it; then run /reload."
    )
  }
  // Beside the own one they make nothing doubtful.
  if (own === undefined && strangers.length > 0) {
    return doubt(
      `there is a pane of its title in this tab that this session did not make, ${list(strangers)}`,
      "Close or rename it; then run /reload."
    )
  }
  return Either.right(own?.pane)
}
