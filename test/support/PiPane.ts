import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { eventually, eventuallyTrue, type NeverCame } from "./Eventually.ts"
import type { TmuxFailed, TmuxServer } from "./TmuxServer.ts"

/** A pane of tmux with a Pi in it: what a person has in front of them. */
export interface PiPane {
  readonly pane: string
  /** What is on the screen and in the history above it. */
  readonly screen: Effect.Effect<string>
  /** Waits until the screen or its history shows this. */
  readonly shows: (what: string | RegExp) => Effect.Effect<void, NeverCame>
  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`. */
  readonly keys: (...keys: ReadonlyArray<string>) => Effect.Effect<void, TmuxFailed>
  /** Types one line into the editor, waits until it is there, and submits it. */
  readonly type: (line: string) => Effect.Effect<void, TmuxFailed | NeverCame>
  /** Closes the terminal, as a person closes a tab. */
  readonly close: Effect.Effect<void, TmuxFailed>
  /** Waits until the pane is gone. */
  readonly gone: Effect.Effect<void, TmuxFailed | NeverCame>
}

/** The text between the two lower rules of the screen; none in a frame that is only half drawn. */
const editorOf = (screen: string): Option.Option<string> => {
  const lines = screen.split("\n")
  const isRule = (line: string) => line.startsWith("──")
  const end = lines.findLastIndex(isRule)
  const begin = lines.slice(0, Math.max(end, 0)).findLastIndex(isRule)
  return begin < 0 ? Option.none() : Option.some(lines.slice(begin + 1, end).join("\n"))
}

const flat = (text: string): string => text.replace(/\s+/g, "")

/** The hands and eyes for a pane that exists: one that the harness started, or a worker's. */
export const make = (tmux: TmuxServer, pane: string): PiPane => {
  const screen = tmux.run(["capture-pane", "-p", "-J", "-S", "-2000", "-t", pane]).pipe(
    Effect.catchAll((error) => Effect.succeed(`(${error.message})`))
  )
  const visible = tmux.run(["capture-pane", "-p", "-t", pane])
  const keys = (...names: ReadonlyArray<string>) => Effect.asVoid(tmux.run(["send-keys", "-t", pane, ...names]))
  const editor = Effect.map(visible, editorOf)
  const holds = (line: string) => Effect.map(editor, Option.exists((text) => flat(text).includes(flat(line))))
  const lacks = (line: string) => Effect.map(editor, Option.exists((text) => !flat(text).includes(flat(line))))
  // Twice: a frame may be drawn in two steps.
  const submitted = (line: string) =>
    lacks(line).pipe(Effect.delay("50 millis"), Effect.zipWith(lacks(line), (one, two) => one && two))
  return {
    pane,
    screen,
    shows: (what) =>
      eventuallyTrue(
        `${what} on the screen of ${pane}`,
        Effect.map(screen, (text) => typeof what === "string" ? text.includes(what) : what.test(text)),
        screen
      ),
    keys,
    type: (line) =>
      Effect.gen(function*() {
        yield* tmux.run(["send-keys", "-t", pane, "-l", line])
        yield* eventuallyTrue(`the typed line in ${pane}`, holds(line), screen)
        // A Pi that is still starting, or completing a name, keeps the line: Enter again, as a person would.
        // A pane that is gone took it, such as /quit.
        const enter = Effect.zipRight(keys("Enter"), eventuallyTrue("", submitted(line), undefined, "300 millis")).pipe(
          Effect.catchTag("TmuxFailed", () => Effect.void)
        )
        yield* eventually(`the submission of the line in ${pane}`, Effect.option(enter), screen)
      }),
    close: Effect.asVoid(tmux.run(["kill-pane", "-t", pane])),
    gone: eventuallyTrue(
      `the end of pane ${pane}`,
      Effect.map(tmux.panes, (rows) => rows.every((row) => row.pane !== pane || row.dead)),
      screen
    )
  }
}
