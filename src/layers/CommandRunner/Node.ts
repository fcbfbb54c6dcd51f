import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { type Command, CommandFailed, CommandRunner, type Exited } from "../../services/CommandRunner.ts"
import { stepThen } from "../OneStep.ts"

/** How long a program may take to obey SIGTERM before it gets SIGKILL. */
const grace = Duration.millis(500)
/** How long a descendant that inherited the pipes may keep them open after the program itself has ended. */
const drain = Duration.millis(250)

interface Running {
  readonly child: ChildProcess
  /** The code it ended with, or why it did not run; done when the system has reaped it. */
  readonly ended: Deferred.Deferred<number, CommandFailed>
  /** Done when it is gone, however it went. */
  readonly gone: Deferred.Deferred<void>
  /** Done when both streams have been read to their end. */
  readonly closed: Deferred.Deferred<void>
  readonly stdout: Collected
  readonly stderr: Collected
}

/** What a stream said, up to the bound; `bytes` counts everything. */
interface Collected {
  readonly chunks: Array<Buffer>
  bytes: number
}

const start = (command: Command) =>
  Effect.gen(function*() {
    const failed = (reason: CommandFailed["reason"]) => new CommandFailed({ reason, program: command.program })
    const ended = yield* Deferred.make<number, CommandFailed>()
    const gone = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const child = yield* Effect.try({
      try: () =>
        spawn(command.program, [...command.args], {
          stdio: ["ignore", "pipe", "pipe"],
          windowsHide: true,
          ...(command.environment === undefined ? {} : { env: { ...command.environment } })
        }),
      // Thrown, not emitted: an argument with NUL, or too many of them.
      catch: () => failed("not_started")
    })
    const collect = (stream: Readable): Collected => {
      const collected: Collected = { chunks: [], bytes: 0 }
      stream.on("data", (chunk: Buffer) => {
        collected.bytes += chunk.byteLength
        if (collected.bytes <= command.maxOutputBytes) collected.chunks.push(chunk)
        else Deferred.unsafeDone(ended, Exit.fail(failed("output")))
      })
      stream.on("error", () => undefined)
      return collected
    }
    const running: Running = {
      child,
      ended,
      gone,
      closed,
      stdout: collect(child.stdout),
      stderr: collect(child.stderr)
    }
    child.on("error", (error: NodeJS.ErrnoException) => {
      // Also emitted when a signal could not be sent; only a program without a pid never ran.
      if (child.pid !== undefined) return
      Deferred.unsafeDone(ended, Exit.fail(failed(error.code === "ENOENT" ? "missing" : "not_started")))
      Deferred.unsafeDone(gone, Exit.void)
    })
    child.on("exit", (code) => {
      Deferred.unsafeDone(ended, code === null ? Exit.fail(failed("signal")) : Exit.succeed(code))
      Deferred.unsafeDone(gone, Exit.void)
    })
    child.on("close", () => Deferred.unsafeDone(closed, Exit.void))
    return running
  })

const result = (command: Command, running: Running): Effect.Effect<Exited, CommandFailed> =>
  Effect.gen(function*() {
    const code = yield* Deferred.await(running.ended)
    yield* Effect.timeoutOption(Deferred.await(running.closed), drain)
    const { stderr, stdout } = running
    // A program may end before all it printed has been read.
    if (Math.max(stdout.bytes, stderr.bytes) > command.maxOutputBytes) {
      return yield* new CommandFailed({ reason: "output", program: command.program })
    }
    const text = (collected: Collected) => Buffer.concat(collected.chunks).toString("utf8")
    return { code, stdout: text(stdout), stderr: text(stderr) }
  })

/** SIGTERM, then SIGKILL; what even that does not end within the same time again (a stuck disk) is left to the system. */
const stop = (running: Running): Effect.Effect<void> =>
  Effect.gen(function*() {
    const gone = Effect.interruptible(Deferred.await(running.gone))
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      // Without a pid nothing runs, and node would send the signal to pid 0: to this very process and all of its group.
      if (running.child.pid === undefined || (yield* Deferred.isDone(running.gone))) break
      running.child.kill(signal)
      yield* Effect.timeoutOption(gone, grace)
    }
    running.child.stdout?.destroy()
    running.child.stderr?.destroy()
  })

const run = <E = never>(command: Command, first: Effect.Effect<void, E> = Effect.void) =>
  stepThen(first, start(command), (running) =>
    Effect.timeoutFail(result(command, running), {
      duration: command.deadline,
      onTimeout: () => new CommandFailed({ reason: "deadline", program: command.program })
    }).pipe(Effect.interruptible, Effect.ensuring(stop(running)))).pipe(Effect.withSpan("CommandRunner.run"))

/** Programs of this machine. */
export const layer: Layer.Layer<CommandRunner> = Layer.succeed(CommandRunner, { run })
