import type { Probe } from "../src/domain/Probe.ts"
import { ago, agoText, type Check, type Row } from "./Row.ts"
import type { Style } from "./Style.ts"
import { cut, plain, widthOf, wrap } from "./Text.ts"

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
  return [
    ["Close", close],
    ...(closeJob === undefined
      ? []
      : [["", "This state is no proof that all child processes ended."] as const]),
    [
      "Handoff",
      handoff === undefined
        ? "none"
        : `${agoText(handoff.updatedAt, now)} (${plain(handoff.updatedAt)})\n${handoff.summary.trim()}`
    ],
    [
      "Report",
      report === undefined || report.status === "clear"
        ? "—"
        : `${row.report} · ${agoText(report.updatedAt, now)} · self-reported, pending review\n${report.summary.trim()}`
    ],
    ["Connection", connectionText(row.connection, check, now)],
    ["Responsibility", description.trim()],
    ["Observed", `${row.status} · ${row.seen}`],
    ["Last activity", row.lastActivity]
  ]
}

/** The sections in at most `height` lines: the longest give way first, and say how much of them is not shown. */
const fitted = (sections: ReadonlyArray<ReadonlyArray<string>>, height: number, width: number) => {
  const needed = (most: number) => sections.reduce((sum, lines) => sum + Math.min(most, lines.length), 0)
  let most = Math.max(1, ...sections.map((lines) => lines.length))
  while (most > 1 && needed(most) > height) most -= 1
  let left = height - needed(most)
  return sections.flatMap((lines) => {
    const room = lines.length > most && left-- > 0 ? most + 1 : most
    return lines.length <= room || room === 1
      ? lines.slice(0, room)
      : [...lines.slice(0, room - 1), cut(`  … ${lines.length - room + 1} more lines`, width)]
  }).slice(0, height)
}

/** At most `height` lines about one worker: all that the table has no room for (spec 8, Details). */
export const details = (
  row: Row,
  check: Check | undefined,
  now: number,
  { height, width }: { readonly height: number; readonly width: number },
  style: Style
): ReadonlyArray<string> => {
  if (height <= 0) return []
  const title = cut(`── ${row.name} `, width)
  const rule = style(title + "─".repeat(Math.max(0, width - widthOf(title))), "quiet")
  const sections = sectionsOf(row, check, now).map(([label, text]) => section(label, text, width, style))
  return [rule, ...fitted(sections, height - 1, width)]
}
