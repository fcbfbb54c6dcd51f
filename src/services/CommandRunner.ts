import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** One program run. */
export interface Command {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly deadline: Duration.DurationInput
  /** Bound of stdout and of stderr, each, in bytes. */
  readonly maxOutputBytes: number
  /** The whole environment of the child; inherited from this process when absent. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A program that ended by itself. */
export interface Exited {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A program that did not end by itself, or did not start. `missing`: nothing ran. Otherwise its effect is unknown. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly reason: "missing" | "not_started" | "deadline" | "output" | "signal"
  readonly program: string
}> {
  override get message(): string {
    switch (this.reason) {
      case "missing":
        return `${this.program} is not installed or not on PATH`
      case "not_started":
        return `${this.program} could not be started`
      case "deadline":
        return `${this.program} did not answer in time and was ended`
      case "output":
        return `${this.program} printed more than expected and was ended`
      case "signal":
        return `${this.program} was ended by a signal`
    }
  }
}

/** Runs programs by their arguments, never through a shell, with a deadline and bounded output. */
export class CommandRunner extends Context.Tag("pi-intercom/CommandRunner")<CommandRunner, {
  /**
   * The program is gone when this returns or is interrupted: SIGTERM, then SIGKILL. `first`, which must not wait, is one
   * step with the start: nothing else of this process runs between, and its failure, or an interruption before that
   * step, starts nothing. The deadline holds in an uninterruptible region too.
   */
  readonly run: <E = never>(
    command: Command,
    first?: Effect.Effect<void, E>
  ) => Effect.Effect<Exited, CommandFailed | E>
}>() {}
