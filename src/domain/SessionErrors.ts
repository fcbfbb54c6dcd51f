import * as Data from "effect/Data"

/** The Pi session this work belonged to has been replaced or closed; nothing was done (spec 3.1). */
export class SessionReplaced extends Data.TaggedError("SessionReplaced")<{}> {
  override get message(): string {
    return "This Pi session was replaced or is closing: nothing was done. Call again from the session that is open now."
  }
}

/** The extension does not run for this session, and why (spec 3.2). */
export class Inactive extends Data.TaggedError("Inactive")<{ readonly why: string }> {
  override get message(): string {
    return `Intercom is inactive in this session: ${this.why}`
  }
}

/** The team file that this session belonged to does not exist any more (spec 1.1: only ENOENT means absent). */
export class TeamGone extends Data.TaggedError("TeamGone")<{ readonly file: string }> {
  override get message(): string {
    return `The team file ${this.file} does not exist any more, so this session has no team. Nothing was done. ` +
      "Restore the file, or run /reload to begin without a team."
  }
}

/** Another session published the team first; this one is now an anonymous worker of it (spec 1.3). */
export class TeamTaken extends Data.TaggedError("TeamTaken")<{
  readonly coordinatorSessionId: string
  readonly root: string
}> {
  override get message(): string {
    return `Session ${this.coordinatorSessionId} already coordinates the team of ${this.root}, so nothing was done: ` +
      "this session is now an anonymous worker of that team and waits to be configured by it."
  }
}

/** A rule of who may do what, to whom, when (spec 4). The effect did not happen. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly reason:
    | "not_coordinator"
    | "not_worker"
    | "no_team"
    | "anonymous"
    | "unloaded"
    | "unknown_name"
    | "target_is_coordinator"
    | "target_is_self"
    | "fenced"
    | "not_supported"
    | "busy"
    | "running"
    | "changed"
    | "invalid"
  readonly sentence: string
  /** For the handoff kinds on the wire only: one of the close reasons (spec 2.1). */
  readonly code?: string
}> {
  override get message(): string {
    return this.sentence
  }
}

/** Arguments that their schema does not accept (spec 4). Nothing was done. */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{
  readonly tool: string
  readonly problem: string
}> {
  override get message(): string {
    return `${this.tool} was not run: ${this.problem}. Correct the arguments and call again.`
  }
}

/** The host did not take a text, known because our own input handler did not run; it was not delivered (facts/pi). */
export class NotTaken
  extends Data.TaggedError("NotTaken")<{ readonly why: "held_full" | "not_ready" | "dropped" | "closing" }>
{
  override get message(): string {
    return "The session could not take the message now; it was not delivered."
  }
}
