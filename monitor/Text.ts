import { graphemes, widestOf, widthOf } from "./Columns.ts"

/** Text of others made fit for a terminal, and cut and wrapped by graphemes (spec 8, rendering rules). */

// Strings that a terminal swallows (OSC, DCS, SOS, PM, APC) with their content, CSI, and the other escape sequences; a
// sequence that is cut off counts as one too. An unended string ends with its line.
const sequences =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\n\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g
const separators = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g
const steering = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** The text in lines, without what steers a terminal: escape sequences, controls, bidi overrides, other separators. */
export const paragraphs = (text: string): ReadonlyArray<string> =>
  text.replace(separators, "\n").replace(sequences, "").replace(steering, "").replaceAll("\t", " ")
    .replace(/\p{Cs}/gu, "\ufffd").split("\n")

/** {@link paragraphs} in one line. */
export const plain = (text: string): string => paragraphs(text).join(" ").trim()

/** The text if it fits, else its beginning and `…`; wider than `width` in no terminal. */
export const cut = (text: string, width: number): string => {
  if (width <= 0) return ""
  if (widestOf(text) <= width) return text
  let kept = ""
  let used = 0
  for (const grapheme of graphemes(text)) {
    used += widestOf(grapheme)
    if (used > width - 1) break
    kept += grapheme
  }
  return `${kept}…`
}

/** `width` columns: cut, or filled with blanks so that what follows stands in line. */
export const fill = (text: string, width: number): string => {
  const fitting = cut(text, width)
  return fitting + " ".repeat(Math.max(0, width - widthOf(fitting)))
}

/** A word that is wider than a line, in pieces that are not; a grapheme that fits into no line becomes `…`. */
const pieces = (word: string, width: number): ReadonlyArray<string> => {
  if (widestOf(word) <= width) return [word]
  const all: Array<string> = []
  let piece = ""
  let used = 0
  for (const grapheme of graphemes(word)) {
    const shown = widestOf(grapheme) > width ? "…" : grapheme
    const more = widestOf(shown)
    if (used + more > width) {
      all.push(piece)
      piece = ""
      used = 0
    }
    piece += shown
    used += more
  }
  return [...all, piece]
}

const wrapLine = (line: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let current = ""
  let used = 0
  for (const word of line.split(" ").flatMap((one) => pieces(one, width))) {
    const more = widestOf(word)
    if (current === "") {
      current = word
      used = more
    } else if (used + 1 + more <= width) {
      current += ` ${word}`
      used += 1 + more
    } else {
      lines.push(current)
      current = word
      used = more
    }
  }
  return [...lines, current]
}

// A frame is drawn each second and the texts of one worker are up to 10,000 characters: those shown last are kept.
const wrapped = new Map<string, ReadonlyArray<string>>()
const keptWraps = 32

/** Text in lines of at most `width` columns, broken at blanks where it can be; none when there is no width. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  if (width <= 0) return []
  const key = `${width} ${text}`
  const known = wrapped.get(key)
  if (known !== undefined) return known
  const lines = paragraphs(text).flatMap((line) => wrapLine(line.trimEnd(), width))
  const [oldest] = wrapped.keys()
  if (wrapped.size >= keptWraps && oldest !== undefined) wrapped.delete(oldest)
  wrapped.set(key, lines)
  return lines
}
