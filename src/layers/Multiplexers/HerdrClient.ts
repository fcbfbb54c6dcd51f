import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { complaint } from "../../domain/Complaint.ts"
import {
  didNothing,
  type HerdrPane,
  type Layout,
  PaneCurrent,
  PaneInfo,
  PaneLayout,
  PaneList,
  PaneProcesses,
  PaneSwap,
  parseAnswer,
  parseCode,
  TabCreated,
  TabInfo
} from "../../domain/HerdrAnswers.ts"
import type { CommandRunner } from "../../services/CommandRunner.ts"

/** Every call, and the calls of a launch (spec 5.1). */
const deadline = Duration.seconds(4)
const launchDeadline = Duration.seconds(40)
const maxOutputBytes = 1024 * 1024

/** A Herdr call that failed. `unanswered`: what it did is unknown; otherwise it did nothing. */
export class HerdrFailed extends Data.TaggedError("HerdrFailed")<{
  readonly reason: "missing" | "refused" | "unanswered"
  /** What the server answered, where it did. */
  readonly code?: string
  readonly detail: string
}> {}

const sentences: Readonly<Record<string, string>> = {
  server_not_running: "Herdr's server is not running any more; start Herdr again and open this session in it",
  protocol_mismatch: "the herdr on PATH and the Herdr that is running are of different versions; " +
    "put the matching herdr first on PATH, or start Herdr again",
  pane_not_found: "Herdr does not know that pane any more",
  tab_not_found: "Herdr does not know that tab any more",
  workspace_not_found: "Herdr does not know that workspace any more"
}

const refused = (code: number, stderr: string): HerdrFailed => {
  const answered = parseCode(stderr)
  if (Option.isSome(answered)) {
    return new HerdrFailed({
      reason: didNothing(answered.value) ? "refused" : "unanswered",
      code: answered.value,
      detail: sentences[answered.value] ?? `Herdr answered ${answered.value}`
    })
  }
  const said = complaint(stderr) || "it gave no reason"
  return code === 2
    ? new HerdrFailed({
      reason: "refused",
      detail: `the herdr on PATH does not know this command, so it is too old or too new: ${said}`
    })
    : new HerdrFailed({ reason: "unanswered", detail: `herdr failed: ${said}` })
}

/** Herdr's CLI, as far as it is used. Ids must be `HerdrId`s. */
export interface HerdrClient {
  /** The pane that this process runs in, as Herdr says. */
  readonly current: Effect.Effect<HerdrPane, HerdrFailed>
  readonly get: (pane: string) => Effect.Effect<HerdrPane, HerdrFailed>
  /** The panes of a workspace, or of all. */
  readonly list: (workspace?: string) => Effect.Effect<(typeof PaneList.Type)["panes"], HerdrFailed>
  /** The foreground processes of a pane. */
  readonly processes: (pane: string) => Effect.Effect<(typeof PaneProcesses.Type)["process_info"], HerdrFailed>
  /** Opens a tab in the background. A directory that does not exist would silently be $HOME (facts/herdr). */
  readonly createTab: (workspace: string, directory: string, label: string) => Effect.Effect<
    typeof TabCreated.Type,
    HerdrFailed
  >
  /** Types one line into a pane: queued as input to whatever runs there, not executed (facts/herdr). */
  readonly run: (pane: string, line: string) => Effect.Effect<void, HerdrFailed>
  readonly renameTab: (tab: string, label: string) => Effect.Effect<void, HerdrFailed>
  /** Opens a pane below one, which keeps its top quarter and the focus. A directory as for {@link createTab}. */
  readonly splitBelow: (pane: string, directory: string) => Effect.Effect<HerdrPane, HerdrFailed>
  readonly renamePane: (pane: string, label: string) => Effect.Effect<void, HerdrFailed>
  /** Swaps the places of two panes and gives the focus to `source`; answers why it did not, if so. */
  readonly swap: (source: string, target: string) => Effect.Effect<(typeof PaneSwap.Type)["swap"], HerdrFailed>
  readonly layout: (pane: string) => Effect.Effect<Layout, HerdrFailed>
}

/** The client of the `herdr` on PATH; it holds nothing and connects per call. */
export const make = (runner: typeof CommandRunner.Service): HerdrClient => {
  // Two words at least: bare `herdr` opens its UI.
  const call = Effect.fn("HerdrClient.call")(
    function*(args: readonly [string, string, ...ReadonlyArray<string>], within = deadline) {
      const ended = yield* Effect.mapError(
        runner.run({ program: "herdr", args, deadline: within, maxOutputBytes }),
        (error) =>
          new HerdrFailed({
            reason: error.reason === "missing" || error.reason === "not_started" ? "missing" : "unanswered",
            detail: error.message
          })
      )
      return ended.code === 0 ? ended.stdout : yield* refused(ended.code, ended.stderr)
    }
  )
  const ask = <A, I>(answer: Schema.Schema<A, I>) => {
    const parse = parseAnswer(answer)
    return (...asked: Parameters<typeof call>): Effect.Effect<A, HerdrFailed> =>
      Effect.flatMap(call(...asked), (stdout) =>
        Option.match(parse(stdout), {
          onNone: () => new HerdrFailed({ reason: "unanswered", detail: "Herdr's answer could not be read" }),
          onSome: Effect.succeed
        }))
  }
  const [current, info, list, processes] = [ask(PaneCurrent), ask(PaneInfo), ask(PaneList), ask(PaneProcesses)]
  const [created, renamed] = [ask(TabCreated), ask(TabInfo)]
  const [layout, swapped] = [ask(PaneLayout), ask(PaneSwap)]
  return {
    current: Effect.map(current(["pane", "current", "--current"]), ({ pane }) => pane),
    get: (pane) => Effect.map(info(["pane", "get", pane]), (answer) => answer.pane),
    list: (workspace) =>
      Effect.map(
        list(["pane", "list", ...(workspace === undefined ? [] : ["--workspace", workspace])]),
        ({ panes }) => panes
      ),
    processes: (pane) =>
      Effect.map(processes(["pane", "process-info", "--pane", pane]), (answer) => answer.process_info),
    createTab: (workspace, directory, label) =>
      created(
        ["tab", "create", "--workspace", workspace, "--cwd", directory, "--label", label, "--no-focus"],
        launchDeadline
      ),
    run: (pane, line) => Effect.asVoid(call(["pane", "run", pane, line], launchDeadline)),
    // A label that begins with a hyphen would be read as an option.
    renameTab: (tab, label) =>
      Effect.asVoid(renamed(["tab", "rename", tab, label.startsWith("-") ? ` ${label}` : label])),
    splitBelow: (pane, directory) =>
      Effect.map(
        info(
          [
            ...["pane", "split", "--pane", pane, "--direction", "down", "--ratio", "0.25"] as const,
            ...["--cwd", directory, "--no-focus"]
          ],
          launchDeadline
        ),
        (answer) => answer.pane
      ),
    renamePane: (pane, label) => Effect.asVoid(info(["pane", "rename", pane, label])),
    swap: (source, target) =>
      Effect.map(swapped(["pane", "swap", "--source-pane", source, "--target-pane", target]), ({ swap }) => swap),
    layout: (pane) => Effect.map(layout(["pane", "layout", "--pane", pane]), (answer) => answer.layout)
  }
}
