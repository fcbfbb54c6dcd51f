import { getSegmenter, visibleWidth } from "@mariozechner/pi-tui/dist/utils.js"

/** How many columns of a terminal a text takes, by graphemes; terminals do not agree on all of them. */

interface Columns {
  /** Where an emoji of several characters is drawn as one. */
  readonly usual: number
  /** In whatever terminal. */
  readonly most: number
}

// Most of what is measured, our own signs included: one column a character.
const simple = /^[ -~—…·–─↑↓]*$/
const emoji = new RegExp("^\\p{RGI_Emoji}$", "v")
const unseen = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]$/u
// Where the C library of a terminal gives a column to what pi-tui takes for nothing, and two to what it takes for one.
const oneSomewhere = /^[\u00ad\uffa0]$/
const twoSomewhere = /^[\u115f\u302e\u302f\u3164\u3248-\u324f\u{16ff0}\u{16ff1}]$/u

const ofCharacter = (character: string): number => {
  if (twoSomewhere.test(character)) return 2
  if (oneSomewhere.test(character)) return 1
  return unseen.test(character) ? 0 : Math.max(1, visibleWidth(character))
}

const measured = (grapheme: string): Columns => {
  // A terminal that knows no graphemes draws each character of one by itself.
  const apart = Array.from(grapheme, ofCharacter).reduce((sum, columns) => sum + columns, 0)
  const most = Math.max(apart, visibleWidth(grapheme))
  return { usual: emoji.test(grapheme) ? 2 : most, most }
}

/** The graphemes of a text, in order. */
export const graphemes = (text: string): ReadonlyArray<string> =>
  Array.from(getSegmenter().segment(text), ({ segment }) => segment)

// Frame after frame measures the same names and graphemes, and to measure one takes microseconds.
const known = new Map<string, Columns>()
const mostKnown = 4096
const longestKnown = 256

const columnsOf = (text: string): Columns => {
  const found = known.get(text)
  if (found !== undefined) return found
  const parts = graphemes(text)
  const columns = parts.length <= 1
    ? measured(text)
    : parts.map(columnsOf).reduce((sum, { most, usual }) => ({ usual: sum.usual + usual, most: sum.most + most }))
  if (known.size >= mostKnown) known.clear()
  if (text.length <= longestKnown) known.set(text, columns)
  return columns
}

/** Columns that a text takes in terminals that draw an emoji of several characters as one: for what stands in line. */
export const widthOf = (text: string): number => simple.test(text) ? text.length : columnsOf(text).usual

/** Columns that a text takes at most, whatever the terminal: for what must fit. Never less than {@link widthOf}. */
export const widestOf = (text: string): number => simple.test(text) ? text.length : columnsOf(text).most
