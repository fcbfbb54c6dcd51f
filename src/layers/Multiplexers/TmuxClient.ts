import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { complaint } from "../../domain/Complaint.ts"
import { isTarget, joined } from "../../domain/TmuxArguments.ts"
import { paneFormat, type PaneRow, parsePanes } from "../../domain/TmuxPanes.ts"
import type { CommandRunner } from "../../services/CommandRunner.ts"

/** Every call (spec 5.2). */
const deadline = Duration.seconds(4)
const maxOutputBytes = 1024 * 1024

/** A tmux call without an answer. `unanswered`: what it did is unknown; otherwise it did nothing. */
export class TmuxFailed extends Data.TaggedError("TmuxFailed")<{
  readonly reason: "missing" | "gone" | "refused" | "unanswered"
  readonly detail: string
}> {}

const isGone = (stderr: string): boolean => /^(no server running|error connecting)/.test(stderr)

/** The client was connected: whether its server had done what it was asked is not known. */
const isLost = (stderr: string): boolean => /^(server exited|lost server)/.test(stderr)

/** The calls that go to one tmux server, over its socket. */
export interface TmuxClient {
  /** Runs commands in one call and answers what they print. A target of another form than an id is a defect. */
  readonly call: (...commands: ReadonlyArray<ReadonlyArray<string>>) => Effect.Effect<string, TmuxFailed>
  /** Every pane of the server. An answer that is not whole fails. */
  readonly panes: Effect.Effect<ReadonlyArray<PaneRow>, TmuxFailed>
}

/** The client of the server at `socket`; it holds nothing and connects per call. */
export const make = (runner: typeof CommandRunner.Service, socket: string): TmuxClient => {
  const call = Effect.fn("TmuxClient.call")(function*(...commands: ReadonlyArray<ReadonlyArray<string>>) {
    for (const command of commands) {
      const at = command.indexOf("-t")
      if (at !== -1 && !isTarget(command[at + 1] ?? "")) {
        return yield* Effect.dieMessage("a tmux call without an explicit target")
      }
    }
    const ended = yield* runner.run({
      program: "tmux",
      args: ["-u", "-S", socket, ...joined(commands)],
      deadline,
      maxOutputBytes
    }).pipe(Effect.mapError((error) =>
      new TmuxFailed({
        reason: error.reason === "missing" || error.reason === "not_started" ? "missing" : "unanswered",
        detail: error.message
      })
    ))
    if (ended.code === 0) return ended.stdout
    if (isLost(ended.stderr)) {
      return yield* new TmuxFailed({ reason: "unanswered", detail: "the tmux server ended while it was asked" })
    }
    return yield* isGone(ended.stderr)
      ? new TmuxFailed({
        reason: "gone",
        detail: "the tmux server that this session was started in is not running any more; " +
          "start tmux again and open this session in it"
      })
      : new TmuxFailed({ reason: "refused", detail: `tmux refused: ${complaint(ended.stderr) || "it gave no reason"}` })
  })
  const panes = Effect.flatMap(call(["list-panes", "-a", "-F", paneFormat]), (text) => {
    const rows = parsePanes(text)
    return rows === undefined
      ? new TmuxFailed({ reason: "refused", detail: "tmux listed its panes in a form that cannot be read" })
      : Effect.succeed(rows)
  })
  return { call, panes }
}
