import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CloseAnswer } from "../../domain/PaneClosing.ts"
import type { Command, CommandRunner, Exited } from "../../services/CommandRunner.ts"

/** The command's own call is cut off then (spec 6.2 step 9). */
const deadline = Duration.seconds(2)
const maxOutputBytes = 64 * 1024

/**
 * Runs the one close command: in one step with `last`, never again, and from then on to its answer whatever interrupts
 * the caller. A program that ran and failed may have closed the pane, whatever it says of it: only one that did not
 * start surely did nothing (spec 6.2, failures).
 */
export const runOnce = <E>(
  runner: CommandRunner["Type"],
  command: Pick<Command, "program" | "args">,
  last: Effect.Effect<void, E>,
  answer: (ended: Exited) => CloseAnswer
): Effect.Effect<CloseAnswer, E> =>
  Effect.uninterruptibleMask((restore) => {
    // Of a tag of its own: whatever the caller fails with is not taken for a failure of the command.
    const look = Effect.mapError(restore(last), (error) => ({ _tag: "NotToBe" as const, error }))
    return runner.run({ ...command, deadline, maxOutputBytes }, look).pipe(
      Effect.map(answer),
      Effect.catchTags({
        CommandFailed: ({ reason }) =>
          Effect.succeed<CloseAnswer>(reason === "missing" || reason === "not_started" ? "not_started" : "unknown"),
        NotToBe: ({ error }) => Effect.fail(error)
      })
    )
  })
