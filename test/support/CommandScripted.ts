import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stepThen } from "../../src/layers/OneStep.ts"
import { type Command, CommandFailed, CommandRunner } from "../../src/services/CommandRunner.ts"

/** How a scripted program behaves; what is absent is empty, 0, at once. */
export interface Behaviour {
  readonly code?: number
  readonly stdout?: string
  readonly stderr?: string
  /** Runs this long before it ends; `forever` never ends. */
  readonly takes?: Duration.DurationInput | "forever"
  /** It does not start, or does not end by itself. */
  readonly fails?: "missing" | "not_started" | "signal"
}

/** A runner whose programs are a function of the command; `calls` are the commands in order, hung ones included. */
export const scripted = (behaviour: (command: Command) => Behaviour) => {
  const calls: Array<Command & { readonly at: number }> = []
  const start = (command: Command) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      calls.push({ ...command, at })
      return behaviour(command)
    })
  const end = (command: Command, { code = 0, fails, stderr = "", stdout = "", takes = 0 }: Behaviour) =>
    Effect.gen(function*() {
      const failed = (reason: CommandFailed["reason"]) => new CommandFailed({ reason, program: command.program })
      if (fails === "missing" || fails === "not_started") return yield* failed(fails)
      if (Math.max(Buffer.byteLength(stdout), Buffer.byteLength(stderr)) > command.maxOutputBytes) {
        return yield* failed("output")
      }
      yield* Effect.timeoutFail(takes === "forever" ? Effect.never : Effect.sleep(takes), {
        duration: command.deadline,
        onTimeout: () => failed("deadline")
      })
      return fails === undefined ? { code, stdout, stderr } : yield* failed(fails)
    })
  const run = <E = never>(command: Command, first: Effect.Effect<void, E> = Effect.void) =>
    stepThen(first, start(command), (behaviour) => Effect.interruptible(end(command, behaviour)))
  return { calls, layer: Layer.succeed(CommandRunner, { run }) }
}
