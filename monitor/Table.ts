import { widestOf } from "./Columns.ts"
import type { Row } from "./Row.ts"
import type { Style, Tone } from "./Style.ts"
import { cut, fill } from "./Text.ts"

interface Column {
  readonly title: string
  readonly width: number
  readonly text: (row: Row) => string
  readonly tone: (row: Row) => Tone
}

const between = "  "
const marker = "> "
const noMarker = "  "
/** Names are shown whole up to here before any column is dropped for them; below, down to {@link leastName}. */
const usualName = 18
const leastName = 10

const column = (
  title: string,
  least: number,
  rows: ReadonlyArray<Row>,
  text: (row: Row) => string,
  tone: (row: Row) => Tone = () => "none"
): Column => ({
  title,
  width: rows.reduce((width, row) => Math.max(width, text(row).length), Math.max(least, title.length)),
  text,
  tone
})

const widthOfAll = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { width }) => sum + width + between.length, 0)

/** The columns that there is room for. Last activity goes first, then the detail of Seen; names shrink before others go. */
const columnsFor = (rows: ReadonlyArray<Row>, width: number): ReadonlyArray<Column> => {
  const longest = rows.reduce((most, row) => Math.max(most, row.nameWidth), "Worker".length)
  const connection = column("Connection", 0, rows, (row) => row.connected)
  const report = column("Report", 0, rows, (row) => row.report, (row) => row.reportTone)
  const activity = column("Activity", 0, rows, (row) => row.activity, (row) => row.activityTone)
  // Of a fixed width, since the words change with every second.
  const seen = column("Seen", "clock uncertain".length, [], (row) => row.seen, (row) => row.seenTone)
  const seenShort = column("Seen", "100d ago".length, [], (row) => row.seenShort, (row) => row.seenTone)
  const last = column("Last activity", 0, rows, (row) => row.lastActivity, (row) => row.seenTone)
  const usual = Math.min(longest, usualName)
  const least = Math.min(longest, leastName)
  const choices = [
    { name: usual, others: [connection, report, activity, seen, last] },
    { name: usual, others: [connection, report, activity, seen] },
    { name: least, others: [connection, report, activity, seenShort] },
    { name: least, others: [report, activity, seenShort] },
    { name: least, others: [report, activity] },
    { name: least, others: [report] }
  ]
  const room = width - marker.length
  const others = choices.find(({ name, others }) => name + widthOfAll(others) <= room)?.others ?? []
  const name = Math.max(0, Math.min(longest, room - widthOfAll(others)))
  return [{ title: "Worker", width: name, text: (row) => row.name, tone: () => "none" }, ...others]
}

const lineOf = (row: Row, columns: ReadonlyArray<Column>, selected: boolean, width: number, style: Style): string => {
  let line = style(cut(selected ? marker : noMarker, width), "none", selected)
  let room = width - marker.length
  for (const [index, { text, tone, width }] of columns.entries()) {
    const gap = index === 0 ? "" : between
    const cell = fill(text(row), width)
    room -= gap.length
    // Cells stand in line where emoji are drawn as one; where they take more, the end of the line gives way.
    const shown = widestOf(cell) <= room ? cell : cut(cell.trimEnd(), room)
    if (shown === "") break
    line += gap + style(shown, tone(row), selected)
    room -= widestOf(shown)
  }
  return line
}

const headerOf = (columns: ReadonlyArray<Column>, width: number, style: Style): string => {
  const titles = columns.map(({ title, width }) => fill(title, width))
  return style(cut(noMarker + titles.join(between), width), "quiet")
}

/** At most `height` lines: the header where there is room for it, and the rows around the selected one. */
export const table = (
  rows: ReadonlyArray<Row>,
  selectedId: string | undefined,
  { height, width }: { readonly height: number; readonly width: number },
  style: Style
): ReadonlyArray<string> => {
  if (height <= 0) return []
  const all = rows.length <= height
  const header = all ? height > rows.length : height > 2
  const room = all ? rows.length : Math.max(1, height - (header ? 2 : 1))
  const selected = Math.max(0, rows.findIndex((row) => row.id === selectedId))
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), rows.length - room))
  const columns = columnsFor(rows, width)
  const lines = rows.slice(first, first + room).map((row, index) =>
    lineOf(row, columns, first + index === selected, width, style)
  )
  const more = `${rows.length - room} more · rows ${first + 1}–${first + lines.length} of ${rows.length}`
  return [
    ...(header ? [headerOf(columns, width, style)] : []),
    ...lines,
    ...(all || height < 2 ? [] : [style(cut(noMarker + more, width), "quiet")])
  ]
}
