import * as fs from "node:fs"
import { inPane, options, tmuxPane } from "../Names.ts"
import { Misused, type Outcome, Refused } from "./Endings.ts"
import { layoutOf } from "./Layout.ts"
import { directoryOf, endSession, foregroundOf } from "./Processes.ts"
import { create, type Row, row, rows, setOption, tmux, unexpanded } from "./Tmux.ts"

/** What a command was called with. */
export interface Arguments {
  /** The words that are no options. */
  readonly words: ReadonlyArray<string>
  readonly options: ReadonlyMap<string, string>
  /** How much of a text a pane takes in whose shell is starting. */
  readonly cut: number
}

interface Command {
  readonly words: number
  /** The options it knows, and whether they have a value. */
  readonly options?: Readonly<Record<string, boolean>>
  readonly run: (args: Arguments) => Outcome
}

const unlessEmpty = (text: string): string | undefined => text === "" ? undefined : text

/** What is absent is left out: JSON has no undefined. */
const paneInfo = (pane: Row) => {
  const cwd = directoryOf(pane.pid)
  return {
    pane_id: pane.id,
    terminal_id: pane.terminal,
    workspace_id: pane.workspace,
    tab_id: pane.tab,
    focused: pane.active && pane.activeTab,
    agent_status: pane.agent === "" ? "unknown" : "idle",
    revision: 0,
    cwd,
    foreground_cwd: cwd,
    label: unlessEmpty(pane.label),
    terminal_title: unlessEmpty(pane.title),
    agent: unlessEmpty(pane.agent),
    agent_session: pane.agentSession === ""
      ? undefined
      : { source: `herdr:${pane.agent}`, agent: pane.agent, kind: "path", value: pane.agentSession }
  }
}

const tabInfo = (pane: Row) => ({
  tab_id: pane.tab,
  workspace_id: pane.workspace,
  number: pane.tabIndex + 1,
  label: pane.tabLabel,
  focused: pane.activeTab,
  pane_count: pane.tabPanes,
  agent_status: pane.agent === "" ? "unknown" : "idle"
})

const answer = (result: { readonly type: string } & Readonly<Record<string, unknown>>): Outcome => ({ result })
const quiet: Outcome = { text: "" }

const word = ({ words }: Arguments, index: number): string => words[index] ?? ""
const value = (args: Arguments, name: string): string => {
  const given = args.options.get(name)
  if (given === undefined) throw new Misused(`the option ${name} is required`)
  return given
}

/** A directory that is not there silently becomes the home. */
const directory = (args: Arguments): string => {
  const cwd = args.options.get("--cwd") ?? ""
  return unexpanded(fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ? cwd : process.env["HOME"] ?? "/")
}

const unfocused = (args: Arguments): ReadonlyArray<string> => args.options.has("--no-focus") ? ["-d"] : []

const type = (args: Arguments, ...keys: ReadonlyArray<string>): Outcome => {
  const pane = row(word(args, 0))
  const text = pane.typed ? word(args, 1) : word(args, 1).slice(0, args.cut)
  setOption(pane, options.typed, "yes")
  if (text !== "") tmux("pane_send_failed", "send-keys", "-t", pane.pane, "-l", "--", text)
  if (keys.length > 0) tmux("pane_send_failed", "send-keys", "-t", pane.pane, ...keys)
  return quiet
}

const split = (args: Arguments): Outcome => {
  const pane = row(value(args, "--pane"))
  const direction = value(args, "--direction")
  if (direction !== "down" && direction !== "right") throw new Misused(`invalid direction ${direction}`)
  const share = Number(args.options.get("--ratio") ?? 0.5)
  const size = `${Math.round((1 - share) * 100)}%`
  const made = create(
    "pane_split_failed",
    [
      ...["split-window", direction === "down" ? "-v" : "-h", ...unfocused(args), "-l", size],
      ...["-t", pane.pane, "-c", directory(args)]
    ],
    inPane()
  )
  return answer({ type: "pane_info", pane: paneInfo(made) })
}

const swap = (args: Arguments): Outcome => {
  const [source, target] = [value(args, "--source-pane"), value(args, "--target-pane")]
  const all = rows()
  const find = (id: string) => all.find((one) => one.id === id)
  const [one, other] = [find(source), find(target)]
  const reason = one === undefined || other === undefined
    ? "not_found"
    : one.id === other.id
    ? "same_pane"
    : one.tab !== other.tab
    ? "cross_tab"
    : undefined
  if (reason === undefined && one !== undefined && other !== undefined) {
    tmux("invalid_pane_swap", "swap-pane", "-d", "-Z", "-s", one.pane, "-t", other.pane)
    tmux("invalid_pane_swap", "select-pane", "-Z", "-t", one.pane)
  }
  const shown = one ?? all.find((pane) => pane.active && pane.activeTab)
  if (shown === undefined) throw new Refused("pane_not_found", "there is no pane")
  const layout = layoutOf(shown.tab)
  return answer({
    type: "pane_swap",
    swap: {
      changed: reason === undefined,
      reason,
      source_pane_id: source,
      target_pane_id: target,
      focused_pane_id: layout.focused_pane_id,
      layout
    }
  })
}

const processInfo = (args: Arguments): Outcome => {
  const pane = row(value(args, "--pane"))
  const { group, processes } = foregroundOf(pane.pid)
  return answer({
    type: "pane_process_info",
    process_info: {
      pane_id: pane.id,
      shell_pid: pane.pid,
      foreground_process_group_id: group,
      foreground_processes: processes.length === 0 ? undefined : processes,
      tty: pane.tty
    }
  })
}

const current = (): Outcome => {
  const pane = tmuxPane(process.env["HERDR_PANE_ID"] ?? "")
  const found = rows().find((one) => one.pane === pane)
  if (found === undefined) throw new Refused("pane_not_found", "the calling pane was not found")
  return answer({ type: "pane_current", pane: paneInfo(found) })
}

const list = (args: Arguments): Outcome => {
  const workspace = args.options.get("--workspace")
  const panes = rows().filter((one) => workspace === undefined || one.workspace === workspace)
  if (panes.length === 0 && workspace !== undefined) {
    throw new Refused("workspace_not_found", `workspace ${workspace} not found`)
  }
  return answer({ type: "pane_list", panes: panes.map(paneInfo) })
}

const close = (args: Arguments): Outcome => {
  const pane = row(word(args, 0))
  endSession(pane.pid)
  // tmux itself removes a pane whose program ended.
  if (rows().some((one) => one.id === pane.id)) {
    try {
      tmux("pane_not_found", "kill-pane", "-t", pane.pane)
    } catch (error) {
      if (!(error instanceof Refused && error.code === "pane_not_found")) throw error
    }
  }
  return answer({ type: "ok" })
}

const createTab = (args: Arguments): Outcome => {
  const workspace = value(args, "--workspace")
  const session = rows().find((one) => one.workspace === workspace)?.session
  if (session === undefined) throw new Refused("workspace_not_found", `workspace ${workspace} not found`)
  const label = unexpanded(args.options.get("--label") ?? "shell")
  const made = create(
    "tab_create_failed",
    ["new-window", ...unfocused(args), "-n", label, "-t", `${session}:`, "-c", directory(args)],
    inPane()
  )
  return answer({ type: "tab_created", tab: tabInfo(made), root_pane: paneInfo(made) })
}

const renameTab = (args: Arguments): Outcome => {
  const tab = word(args, 0)
  const window = rows().find((one) => one.tab === tab)?.window
  if (window === undefined) throw new Refused("tab_not_found", `tab ${tab} not found`)
  tmux("internal_error", "rename-window", "-t", window, "--", unexpanded(word(args, 1)))
  const renamed = rows().find((one) => one.tab === tab)
  if (renamed === undefined) throw new Refused("tab_not_found", `tab ${tab} not found`)
  return answer({ type: "tab_info", tab: tabInfo(renamed) })
}

const renamePane = (args: Arguments): Outcome => {
  setOption(row(word(args, 0)), options.label, word(args, 1))
  return answer({ type: "pane_info", pane: paneInfo(row(word(args, 0))) })
}

const commands: Readonly<Record<string, Command>> = {
  "pane current": { words: 0, options: { "--current": false }, run: current },
  "pane get": { words: 1, run: (args) => answer({ type: "pane_info", pane: paneInfo(row(word(args, 0))) }) },
  "pane list": { words: 0, options: { "--workspace": true }, run: list },
  "pane process-info": { words: 0, options: { "--pane": true }, run: processInfo },
  "pane layout": {
    words: 0,
    options: { "--pane": true },
    run: (args) => answer({ type: "pane_layout", layout: layoutOf(row(value(args, "--pane")).tab) })
  },
  "pane split": {
    words: 0,
    options: { "--pane": true, "--direction": true, "--ratio": true, "--cwd": true, "--no-focus": false },
    run: split
  },
  "pane rename": { words: 2, run: renamePane },
  "pane swap": { words: 0, options: { "--source-pane": true, "--target-pane": true }, run: swap },
  "pane run": { words: 2, run: (args) => type(args, "Enter") },
  "pane send-text": { words: 2, run: (args) => type(args) },
  "pane close": { words: 1, run: close },
  "pane read": {
    words: 1,
    run: (args) => ({ text: tmux("internal_error", "capture-pane", "-p", "-t", row(word(args, 0)).pane) })
  },
  "tab create": {
    words: 0,
    options: { "--workspace": true, "--cwd": true, "--label": true, "--no-focus": false },
    run: createTab
  },
  "tab rename": { words: 2, run: renameTab }
}

/** Runs the command that these arguments name. */
export const run = (args: ReadonlyArray<string>, cut: number): Outcome => {
  const name = args.slice(0, 2).join(" ")
  const command = commands[name]
  // Without arguments the real one opens its screen, which a program never wants.
  if (command === undefined) throw new Misused(`unknown command '${name}'`)
  const words: Array<string> = []
  const given = new Map<string, string>()
  for (let at = 2; at < args.length; at += 1) {
    const arg = args[at] ?? ""
    // A text or label may begin with a hyphen: only what comes before the words can be an option.
    if (!arg.startsWith("--") || words.length > 0) {
      words.push(arg)
      continue
    }
    const hasValue = command.options?.[arg]
    if (hasValue === undefined) throw new Misused(`unexpected argument '${arg}'`)
    const next = hasValue ? args[at += 1] : ""
    if (next === undefined) throw new Misused(`a value is required for '${arg}'`)
    given.set(arg, next)
  }
  if (words.length !== command.words) throw new Misused(`'${name}' takes ${command.words} arguments`)
  return command.run({ words, options: given, cut })
}
