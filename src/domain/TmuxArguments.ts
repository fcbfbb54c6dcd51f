import * as Schema from "effect/Schema"
import type { LaunchRequest } from "./Launch.ts"
import { unsetMatching } from "./PosixShell.ts"

/** A pane as tmux targets it. Building one from anything else is a defect: tmux answers for another pane (facts/tmux). */
export const PaneId = Schema.String.pipe(Schema.pattern(/^%\d+$/), Schema.brand("PaneId"))
export type PaneId = typeof PaneId.Type

/** The only targets that are ever passed: a pane, a window, or a session as a place for a new window. */
export const isTarget = (text: string): boolean => /^(%\d+|@\d+|\$\d+:)$/.test(text)

/** An argument that ends in `;` would end the tmux command and run the rest as another one: it gets `\;` (facts/tmux). */
export const literal = (argument: string): string => argument.endsWith(";") ? `${argument.slice(0, -1)}\\;` : argument

/**
 * Text where tmux expands formats (`-c`, `-n`, `rename-window`): every `#` doubled, or `#(…)` would run (facts/tmux).
 * tmux leaves `##[` as it is: such a title shows right in the status line, and the launch script enters the directory.
 */
export const unexpanded = (text: string): string => text.replaceAll("#", "##")

/** Several commands of one call, in tmux's own syntax. */
export const joined = (commands: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  commands.flatMap((command, index) => [...(index === 0 ? [] : [";"]), ...command.map(literal)])

const maxBytes = 15 * 1024
const maxArguments = 900
const encoder = new TextEncoder()

/** Whether tmux takes these arguments: at most 15 KiB with the NUL after each, and 900 of them (spec 5.2). */
export const fits = (args: ReadonlyArray<string>): boolean =>
  args.length <= maxArguments &&
  args.reduce((bytes, argument) => bytes + encoder.encode(argument).byteLength + 1, 0) <= maxBytes

/** What the variable `TMUX` says: `<socket>,<server pid>,<session number>`. */
export interface TmuxVariable {
  readonly socket: string
  readonly serverPid: number
  readonly session: string
}

/** Parsed from the right, since a socket's path may hold commas (facts/tmux). Undefined when it is not of that form. */
export const parseTmux = (text: string): TmuxVariable | undefined => {
  const [, socket, pid, session] = /^(.+),(\d+),(\d+)$/s.exec(text) ?? []
  return socket === undefined || pid === undefined || session === undefined
    ? undefined
    : { socket, serverPid: Number(pid), session: `$${session}` }
}

/** tmux 3.2 or newer; letters (`3.3a`, `next-3.8`) do not matter, an unreadable version counts as new enough (facts/tmux). */
export const isSupported = (version: string): boolean => {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? []
  return major === undefined || Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 2)
}

/**
 * What the pane runs: enter the directory (tmux never fails on a missing one), remove the variables of other sessions
 * and multiplexers (spec 5), become the program. The names are taken from the very environment that is passed on.
 */
export const launchScript = `cd -- "$1" || exit 126
shift
${unsetMatching("HERDR_*|PI_SESSION_*")}
exec "$@"`

/** What every new pane is given: its directory, its environment, and the program that becomes its first process. */
export const inPane = (request: Omit<LaunchRequest, "root">): ReadonlyArray<string> => [
  "-c",
  unexpanded(request.directory),
  ...Object.entries(request.environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
  "--",
  "/bin/sh",
  "-c",
  launchScript,
  "intercom-launch",
  request.directory,
  ...request.argv
]

/**
 * The `new-window` that launches a worker in a session: in the background, its id printed, no user shell (spec 5.2).
 * tmux puts its client's PATH over a given one: both are this session's.
 */
export const newWindow = (session: string, request: Omit<LaunchRequest, "root">): ReadonlyArray<string> => [
  "new-window",
  "-d",
  "-P",
  "-F",
  "#{pane_id}|#{window_id}",
  "-n",
  "intercom",
  "-t",
  `${session}:`,
  ...inPane(request)
]

/** The ids of a `new-window` or `split-window` answer: they mean submitted, not running (facts/tmux). */
export const parseSubmitted = (text: string): { readonly tab: string; readonly pane: PaneId } | undefined => {
  const [, pane, tab] = /^(%\d+)\|(@\d+)\n?$/.exec(text) ?? []
  return pane === undefined || tab === undefined ? undefined : { tab, pane: PaneId.make(pane) }
}

/** The commands that title a pane's window, and keep the program and tmux from titling it again (spec 5.2). */
export const rename = (pane: PaneId, name: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["set-option", "-w", "-t", pane, "allow-rename", "off"],
  ["set-option", "-w", "-t", pane, "automatic-rename", "off"],
  ["rename-window", "-t", pane, "--", unexpanded(name)]
]
