import { assert } from "@effect/vitest"
import { widestOf } from "../../monitor/Columns.ts"
import type { State } from "../../monitor/State.ts"
import { bare, coloured } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import { now } from "./Nasty.ts"

export const version = "0.1.0"
const steering = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
const sgr = /\u001b\[\d[\d;]*m/g

/**
 * The rendering rules of spec 8, for one frame. Lines in `fits` were found to fit this width before; what is found to
 * fit is added.
 */
export const keeps = (state: State, width: number, height: number, later = 0, fits = new Set<string>()) => {
  const frame = { width, height, now: now + later, version }
  const lines = view(state, { ...frame, style: bare })
  const at = `${width}x${height}`
  assert.strictEqual(lines.length, height, at)
  for (const line of lines) {
    if (fits.has(line)) continue
    if (widestOf(line) > width) assert.fail(`${at}: ${widestOf(line)} columns: ${JSON.stringify(line)}`)
    if (steering.test(line)) assert.fail(`${at}: steers the terminal: ${JSON.stringify(line)}`)
    fits.add(line)
  }
  const withColour = view(state, { ...frame, style: coloured })
  if (withColour.join("\n").replace(sgr, "") !== lines.join("\n")) {
    assert.deepStrictEqual(withColour.map((line) => line.replace(sgr, "")), lines, at)
  }
}
