import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import { Port } from "../../src/domain/Primitives.ts"

/** A child of the bench that ended before it said where it listens. */
export class ChildFailed extends Data.TaggedError("ChildFailed")<{ readonly script: string }> {
  override get message(): string {
    return `${this.script} ended before it listened`
  }
}

const decode = Schema.decodeUnknownOption(Schema.Struct({ port: Port }))

const end = (child: ChildProcess): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** Starts a script of this folder in a process of its own and answers the port that it sends; it ends with the scope. */
export const listening = (
  script: string,
  args: ReadonlyArray<string> = []
): Effect.Effect<Port, ChildFailed, Scope.Scope> =>
  Effect.acquireRelease(
    // stdout belongs to the one JSON object of the bench.
    Effect.sync(() =>
      fork(join(import.meta.dirname, script), args, { execArgv: [], stdio: ["ignore", 2, "inherit", "ipc"] })
    ),
    end
  ).pipe(Effect.flatMap((child) =>
    Effect.async<Port, ChildFailed>((resume) => {
      child.once("exit", () => resume(new ChildFailed({ script })))
      child.on("message", (message) => {
        const said = decode(message)
        if (said._tag === "Some") resume(Effect.succeed(said.value.port))
      })
    })
  ))

/** In the child: says where it listens, and ends with its parent, however that ends. */
export const listensOn = (port: number): void => {
  process.once("disconnect", () => process.exit())
  process.send?.({ port })
}
