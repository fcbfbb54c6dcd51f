import { quoted } from "../src/domain/PosixShell.ts"
import { widestOf } from "./Columns.ts"
import { details } from "./Details.ts"
import { ago, rowsOf } from "./Row.ts"
import { isOutdated, type State, workersOf } from "./State.ts"
import type { Style } from "./Style.ts"
import { table } from "./Table.ts"
import { cut, plain, wrap } from "./Text.ts"

/** What a frame depends on beside the state. */
export interface Frame {
  /** Columns and rows of the terminal. */
  readonly width: number
  readonly height: number
  /** ms since the epoch. */
  readonly now: number
  /** The version of this package, without `v`. */
  readonly version: string
  readonly style: Style
}

/** A pass takes at most some 8 s with its pause; with no new view for this long, something hangs. */
const lateAfterMs = 15_000
const isLate = ({ newest, startedAt }: State, now: number): boolean =>
  now - (newest?.takenAt ?? startedAt) > lateAfterMs

/** The command that says why a team file cannot be used. */
const doctorFor = (root: string): string => {
  const shown = plain(root)
  return `pi-intercom-doctor --root ${/^[\w/.-]+$/.test(shown) ? shown : quoted(shown)}`
}

/** The mark of what is shown when it is not what the files say now. */
const noticeOf = (state: State, { now, width }: Frame): string | undefined => {
  const { good, newest } = state
  if (newest === undefined) return undefined
  if (good !== undefined && isOutdated(state)) {
    const old = `this is the team of ${ago(good.takenAt, now) ?? "an uncertain time"}`
    if (newest.noTeam === "no_folder") return `! The folder of the team is gone: ${old}`
    if (newest.noTeam === "no_file") return `! The team file is gone: ${old}`
    const mark = `! The team file cannot be read: ${old}`
    const hints = [` · ${doctorFor(state.root)} says why`, " · pi-intercom-doctor says why", ""]
    return mark + (hints.find((hint) => widestOf(mark + hint) <= width) ?? "")
  }
  if (!isLate(state, now)) return undefined
  const what = good === undefined ? "what was found" : "the team of"
  return `! Not refreshed: this is ${what} ${ago(newest.takenAt, now) ?? "before"}`
}

/** What is said instead of a table without rows. */
const emptyOf = (state: State, now: number): string => {
  const { good, newest, root, startedAt } = state
  const folder = plain(root)
  if (newest === undefined) {
    if (!isLate(state, now)) return "Reading the team …"
    return `Still reading the team in ${folder}, begun ${
      ago(startedAt, now) ?? "before"
    }: the system has not answered yet. The team is shown as soon as it does; q quits the monitor.`
  }
  if (good !== undefined) return "This team has no workers yet. They are shown as soon as the team file has them."
  if (newest.noTeam === "no_folder") {
    return `There is no folder ${folder}, so there is no team to show. Press q and start the monitor with your project's folder as --root.`
  }
  if (newest.noTeam === "no_file") {
    return `There is no team file in ${folder} yet. Start Pi there and run /intercom start; the team is shown as soon as there is one.`
  }
  // At the end and with nothing after it, as it is to be copied.
  return `The team file in ${folder} cannot be used, so no team is shown; the file was not changed. To see why, run:\n${
    doctorFor(root)
  }`
}

const keys = ["↑/↓ select · Enter details · q quit", "↑/↓ · Enter · q quit", "q quit"]
const partial = " · Partial observations"

const leftOf = (state: State, room: number): string => {
  const { errors, truncated } = state.newest ?? { errors: [], truncated: false }
  const mark = truncated || errors.length > 0 ? partial : ""
  const all = keys.map((text) => text + mark)
  return all.find((text) => widestOf(text) <= room) ?? cut(`q quit${mark}`, room)
}

/** Keys at the left, the version at the right; what of them is a matter of width alone (spec 8, Footer). */
const footer = (state: State, { style, version, width }: Frame): string => {
  const short = `v${version}`
  const right = width >= 60 ? `Intercom ${short}` : width >= widestOf(short) + 8 ? short : ""
  const room = Math.max(0, width - (right === "" ? 0 : widestOf(right) + 2))
  const left = width < 6 ? cut("q", width) : width < 18 ? cut("q quit", room) : leftOf(state, room)
  const gap = right === "" ? "" : " ".repeat(width - widestOf(left) - widestOf(right))
  return style(cut(left + gap + right, width), "quiet")
}

/** With details open, the table keeps a third of the lines. */
const split = (height: number, rows: number): number => Math.min(rows + 1, Math.max(1, Math.floor(height / 3)))

const body = (state: State, height: number, frame: Frame): ReadonlyArray<string> => {
  const { now, style, width } = frame
  const rows = rowsOf(workersOf(state), state.checks, now)
  if (rows.length === 0) return wrap(emptyOf(state, now), width)
  const selected = rows.find(({ id }) => id === state.selected)
  if (!state.details || selected === undefined) return table(rows, state.selected, { height, width }, style)
  const above = table(rows, state.selected, { height: split(height, rows.length), width }, style)
  const size = { height: height - above.length, width, turned: state.turned }
  return [...above, ...details(selected, state.checks.get(selected.id), now, size, style)]
}

/** The screen: exactly `height` lines, none wider than `width` columns, whatever the files hold (spec 8). */
export const view = (state: State, frame: Frame): ReadonlyArray<string> => {
  const { height, style, width } = frame
  if (height <= 0) return []
  const notice = noticeOf(state, frame)
  const above = notice === undefined || height < 2 ? [] : [style(cut(notice, width), "needsYou", true)]
  const room = height - above.length - 1
  const lines = body(state, room, frame).slice(0, room)
  return [...above, ...lines, ...Array.from({ length: room - lines.length }, () => ""), footer(state, frame)]
}
