import type { Probe } from "../src/domain/Probe.ts"
import { widestOf } from "./Columns.ts"
import { ago, agoText, type Check, type Row } from "./Row.ts"
import type { Style } from "./Style.ts"
import { cut, plain, wrap } from "./Text.ts"

/** From this width on labels have a column of their own. */
const labelsBesideFrom = 50
const labelWidth = 16

const connectionText = ({ reason, state }: Probe, check: Check | undefined, now: number): string => {
  const checked = reason === "not_checked" || check === undefined
    ? ""
    : ` · checked ${ago(check.at, now) ?? "at an uncertain time"}`
  return `${state} (${reason.replaceAll("_", " ")})${checked}`
}

/** A text after its label, wrapped; it has at least one line where there is width. */
const section = (label: string, text: string, width: number, style: Style): ReadonlyArray<string> => {
  if (width >= labelsBesideFrom) {
    return wrap(text, width - labelWidth).map((line, index) =>
      index === 0 ? style(label.padEnd(labelWidth), "quiet") + line : " ".repeat(labelWidth) + line
    )
  }
  const indent = width > 12 ? "  " : ""
  return wrap(label === "" ? text : `${label}: ${text}`, width - indent.length).map((line, index) =>
    index === 0 ? line : indent + line
  )
}

const sectionsOf = (row: Row, check: Check | undefined, now: number): ReadonlyArray<readonly [string, string]> => {
  const { agent: { closeJob, description, handoff }, report } = row.worker
  const words = (text: string): string => text.replaceAll("_", " ")
  const close = closeJob === undefined
    ? "none"
    : [words(closeJob.state), ...(closeJob.reason === undefined ? [] : [words(closeJob.reason)])].join(" · ") +
      ` · ${agoText(closeJob.updatedAt, now)}`
  // First what may need the person; last what can be long and is seldom new.
  return [
    [
      "Report",
      report === undefined || report.status === "clear"
        ? "—"
        : `${row.report} · ${agoText(report.updatedAt, now)} · self-reported, pending review\n${report.summary.trim()}`
    ],
    ["Close", close],
    ...(closeJob === undefined
      ? []
      : [["", "This state is no proof that all child processes ended."] as const]),
    ["Connection", connectionText(row.connection, check, now)],
    ["Observed", `${row.status} · ${row.seen}`],
    ["Last activity", row.lastActivity],
    ["Responsibility", description.trim()],
    [
      "Handoff",
      handoff === undefined
        ? "none"
        : `${agoText(handoff.updatedAt, now)} (${plain(handoff.updatedAt)})\n${handoff.summary.trim()}`
    ]
  ]
}

/** One page of the lines: `turned` says how often it was turned; after the last comes the first again. */
const pageOf = (lines: ReadonlyArray<string>, height: number, turned: number, width: number) => {
  if (lines.length <= height) return { shown: lines, where: "" }
  // The last line of a page says how many follow; the last page has none.
  const step = Math.max(1, height - 1)
  const pages = 1 + Math.ceil((lines.length - Math.max(1, height)) / step)
  const page = ((turned % pages) + pages) % pages
  const rest = lines.slice(page * step)
  const more = `… ${rest.length - step} more lines · Space shows them`
  const shown = rest.length <= height || height < 2 ? rest.slice(0, height) : [...rest.slice(0, step), cut(more, width)]
  return { shown, where: `· ${page + 1}/${pages} ` }
}

/** At most `height` lines about one worker: all that the table has no room for, by pages (spec 8, Details). */
export const details = (
  row: Row,
  check: Check | undefined,
  now: number,
  { height, turned, width }: { readonly height: number; readonly width: number; readonly turned: number },
  style: Style
): ReadonlyArray<string> => {
  if (height <= 0) return []
  const lines = sectionsOf(row, check, now).flatMap(([label, text]) => section(label, text, width, style))
  const { shown, where } = pageOf(lines, height - 1, turned, width)
  const name = cut(row.name, Math.max(1, width - "──  ".length - where.length))
  const title = cut(`── ${name} ${where}`, width)
  const rule = style(title + "─".repeat(Math.max(0, width - widestOf(title))), "quiet")
  return [rule, ...shown]
}
