import * as Data from "effect/Data"

/** A variable changes with a new start only. */
export const misnamedMend =
  "Set PI_INTERCOM_ROOT to the absolute path of the team's folder, or unset it, and start Pi again."

/**
 * A team file, or a folder on the way to it, that cannot be used. It is never overwritten, repaired or treated as
 * absent (spec 1.1). `file` is a path; `detail` says what is wrong with it and, for `invalid`, the first failing path.
 * `misnamed`: PI_INTERCOM_ROOT names no folder that can be the team's.
 */
export class ConfigUnusable extends Data.TaggedError("ConfigUnusable")<{
  readonly reason: "unreadable" | "invalid" | "too_large" | "unsafe" | "misnamed"
  readonly file: string
  readonly detail: string
}> {
  override get message(): string {
    const mend = this.reason === "misnamed"
      ? misnamedMend
      : "Mend it and try again; a session that says it is inactive needs /reload."
    return `${this.file} cannot be used for a team: ${this.detail}. Nothing was changed. ${mend}`
  }
}

/** An update that did not happen. The file on disk is as it was, byte for byte (spec 1.4). */
export class ConfigNotWritten extends Data.TaggedError("ConfigNotWritten")<{
  readonly reason:
    | "absent"
    | "not_coordinator"
    | "conflict"
    | "locked"
    | "write_failed"
    | "no_hard_links"
    | "invalid"
    | "too_large"
  readonly file: string
  readonly detail: string
}> {
  override get message(): string {
    return `The team file ${this.file} was not changed: ${this.detail}.`
  }
}

/** A proposed entry that breaks a rule of the team file; nothing was written (spec 1.1, 1.5). */
export class ConfigRefused extends Data.TaggedError("ConfigRefused")<{ readonly detail: string }> {
  override get message(): string {
    return `Nothing was written: ${this.detail}.`
  }
}

/** The machine-local state directory, or a file in it, that cannot be trusted or made (spec 1.3). */
export class StateUnusable extends Data.TaggedError("StateUnusable")<{
  readonly path: string
  readonly detail: string
  readonly mend: string
}> {
  override get message(): string {
    return `What Intercom keeps privately at ${this.path} cannot be used: ${this.detail}. ${this.mend}`
  }
}

/** A lock of the state folder that somebody else holds, or that nobody may break (spec 1.4). Nothing was changed. */
export class LockNotTaken extends Data.TaggedError("LockNotTaken")<{
  /**
   * `held`: its owner lives. `unknown_owner`: it cannot be told whether it does (another container or machine).
   * `takeover_left`: a take-over that never ended. `unreadable`: not a lock of ours.
   */
  readonly reason: "held" | "unknown_owner" | "takeover_left" | "unreadable"
  /** The file to look at: the lock, or its take-over file. */
  readonly file: string
  /** The owner's process id, as the file has it. */
  readonly pid: number | undefined
  /** What the lock stands for, as a subject: "The team file", "This session". */
  readonly what: string
}> {
  override get message(): string {
    const owner = this.pid === undefined ? "a process" : `process ${this.pid}`
    switch (this.reason) {
      case "held":
        return `${this.what} is in use by ${owner} (lock file ${this.file}), so nothing was done. ` +
          "Close that session or wait until it is done, then try again; a session that says it is inactive needs /reload."
      case "unknown_owner":
        return `${this.what} may be in use by ${owner}, of which nothing can be told from here (lock file ${this.file}), ` +
          "so nothing was done. Once you know that it has ended, remove that file and try again."
      case "takeover_left":
        return `${this.what} is locked: ${owner} was taking over a dead process's lock and has not finished ` +
          `(${this.file}), so nothing was done. Once you know that it has ended, remove that file and try again.`
      case "unreadable":
        return `${this.what} is locked by ${this.file}, which is not a lock of Intercom's, so nothing was done. ` +
          "Once no session of this team runs, remove that file and try again."
    }
  }
}

/** Says of a lock that was not taken what it stands for to the caller; other failures stay as they are. */
export const lockOf = (what: string) => <E>(error: E | LockNotTaken): E | LockNotTaken =>
  error instanceof LockNotTaken ? new LockNotTaken({ ...error, what }) : error
