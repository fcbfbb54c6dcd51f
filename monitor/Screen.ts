const begin = "\u001b[?2026h"
const end = "\u001b[?2026l"

/** Another screen, so that the shell's comes back untouched; no cursor; a line that is wider than we think never wraps. */
export const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J"
/** Undoes {@link enter}. */
export const leave = "\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l"

/** What makes a terminal that shows `before` show `after`; all of it when `before` is undefined. Empty when equal. */
export const repaint = (before: ReadonlyArray<string> | undefined, after: ReadonlyArray<string>): string => {
  const clear = before?.length === after.length ? "" : "\u001b[2J"
  const known = clear === "" ? before : undefined
  // Erased before it is written: after a full line the cursor still stands on its last column.
  const lines = after.flatMap((line, row) => known?.[row] === line ? [] : [`\u001b[${row + 1};1H\u001b[2K${line}`])
  return clear === "" && lines.length === 0 ? "" : `${begin}${clear}${lines.join("")}${end}`
}
