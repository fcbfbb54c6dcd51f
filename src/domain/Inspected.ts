import type { Liveness } from "./IdentifiedProcess.ts"
import type { Ledger } from "./Ledger.ts"

/** What lies on disk of a team, beside its team file. */

/** Something that cannot be used, and how to mend it. `detail` ends a sentence; `mend` is whole sentences. */
export interface Trouble {
  readonly place: "state" | "secret" | "record" | "logs" | "reports"
  readonly path: string
  readonly detail: string
  readonly mend: string
}

/** A lock, or the file of a take-over. */
export interface SeenLock {
  readonly file: string
  readonly takeover: boolean
  /** Of its owner; `unreadable` when it is not a lock of ours. */
  readonly owner: Liveness | "unreadable"
  /** The owner's process id, as the file has it. */
  readonly pid: number | undefined
}

/** A temporary of a process that does not live here. */
export interface SeenTemporary {
  readonly file: string
  readonly maker: "gone" | "unknown"
}

/** What a look at a team's folders on this machine found. */
export interface Inspected {
  /** The state directory, when it holds no secret of this team: none of its sessions has run with it. */
  readonly nothingIn: string | undefined
  readonly troubles: ReadonlyArray<Trouble>
  readonly locks: ReadonlyArray<SeenLock>
  readonly temporaries: ReadonlyArray<SeenTemporary>
  /** Launch scripts that have waited longer for their tab than any takes to open. */
  readonly scripts: ReadonlyArray<string>
  /** Records of monitor panes in Herdr that were begun and not finished. */
  readonly unfinishedMonitors: ReadonlyArray<string>
  /** None when there is none, or it cannot be used. */
  readonly ledger: Ledger | undefined
  /** A folder had too many entries to look at all. */
  readonly truncated: boolean
}
