import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { graphemes, widestOf } from "../../monitor/Columns.ts"
import { repaint } from "../../monitor/Screen.ts"
import type { State } from "../../monitor/State.ts"
import { coloured } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { node22 } from "../support/HostVersions.ts"
import { realTmux } from "../support/Tmux.ts"
import { nastyTeam, now } from "./Nasty.ts"
import { version } from "./Rules.ts"

/** The view's own measure, put to the test by a terminal that has another. */

/** Only bounds a hang: a busy machine takes its time. */
const hangs = 5 * 60_000

const Answers = Schema.parseJson(Schema.Array(Schema.Tuple(Schema.Number, Schema.Number)))

const terminal = Effect.gen(function*() {
  const tmux = yield* realTmux()
  yield* tmux.run(["set-option", "-g", "status", "off"])
  let panes = 0
  const open = (width: number, height: number, ...argv: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const made = ["new-session", "-d", "-P", "-F", "#{pane_id} #{pane_tty} #{pane_width} #{pane_height}"]
      const size = ["-x", String(width), "-y", String(height)]
      const [id = "", tty = "", ...is] = (yield* tmux.run([...made, ...size, "--", ...argv])).trim().split(" ")
      assert.deepStrictEqual(is, [String(width), String(height)])
      return { id, tty }
    })
  /** The row and the columns after each text, in a pane of this width where a line that is too long wraps. */
  const ends = (texts: ReadonlyArray<string>, width: number) =>
    Effect.gen(function*() {
      panes += 1
      const [from, to] = [path.join(tmux.folder, `texts-${panes}`), path.join(tmux.folder, `answers-${panes}`)]
      fs.writeFileSync(from, JSON.stringify(texts))
      yield* open(width, 4, node22, path.join(import.meta.dirname, "Columns.cjs"), from, to)
      yield* eventuallyTrue("the terminal's answers", Effect.sync(() => fs.existsSync(to)))
      return yield* Schema.decode(Answers)(fs.readFileSync(to, "utf8"))
    })
  return { ...tmux, open, ends }
})

/** Every character but ideographs and syllables, which are alike. */
const assigned = Array.from({ length: 0x11_0000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code)).filter((one) =>
    !/[\p{Cc}\p{Cn}\p{Co}\p{Zl}\p{Zp}\p{Unified_Ideograph}\p{Script=Tangut}\uac00-\ud7a3]/u.test(one)
  )

const sequences = [
  ...assigned.filter((one) => /(?!\p{ASCII})\p{Emoji}/u.test(one)).flatMap((one) => [
    `${one}\ufe0f`,
    ...(/\p{Emoji_Modifier_Base}/u.test(one) ? ["🏽", "🏽\u200d♂\ufe0f", "\u200d♀\ufe0f"].map((end) => one + end) : [])
  ]),
  ..."👩‍👩‍👧‍👦 👩🏽‍🤝‍👨🏿 🏳️‍🌈 🏴‍☠️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪 🇯 1️⃣ कार्यकर्ता क्ष க்ஷ น้ำ မြန်မာ ﾊﾞ 각 ᄒ".split(" ")
]

describe("in tmux", () => {
  it.scopedLive("no character takes more columns than are counted for it", () =>
    Effect.gen(function*() {
      const { ends } = yield* terminal
      const texts = [...assigned, ...sequences]
      const wide = (yield* ends(texts, 80)).map(([, columns], n) => ({ text: texts[n] ?? "", columns }))
        .filter(({ columns, text }) => columns > widestOf(text))
      assert.strictEqual(assigned.length > 30_000 && sequences.length > 1000, true)
      assert.deepStrictEqual(wide, [])
    }), hangs)

  it.scopedLive("no line of any frame wraps", () =>
    Effect.gen(function*() {
      const { ends } = yield* terminal
      const team = nastyTeam(81)
      for (const width of [1, 2, 5, 12, 17, 31, 40, 60, 79, 121]) {
        const frames = [team, ...Array.from({ length: 27 }, (_, n) => ({ ...team, selected: `${n}`, details: true }))]
        const pages = frames.flatMap((state) => [0, 1].map((turned) => ({ ...state, turned })))
        const lines = new Set(
          pages.flatMap((state) => view(state, { width, height: 90, now, version, style: coloured }))
        )
        const texts = [...lines]
        const wrapped = (yield* ends(texts, width)).flatMap(([row], n) => row === 1 ? [] : [texts[n]])
        assert.deepStrictEqual(wrapped, [], `at ${width}, of ${texts.length} lines`)
      }
    }), hangs)

  it.scopedLive("a frame is seen as it is", () =>
    Effect.gen(function*() {
      const { open, run } = yield* terminal
      const frame = (state: State, width: number, height: number) =>
        Effect.gen(function*() {
          const { id, tty } = yield* open(width, height, "/bin/cat")
          const lines = view(state, { width, height, now, version, style: coloured })
          fs.writeFileSync(tty, `${repaint(undefined, lines)}\u001b]2;drawn\u0007`)
          const title = Effect.map(run(["display-message", "-p", "-t", id, "#{pane_title}"]), (text) => text.trim())
          yield* eventuallyTrue("the end of the frame", Effect.map(title, (text) => text === "drawn"))
          const seen = (yield* run(["capture-pane", "-p", "-t", id])).split("\n").slice(0, -1)
          assert.deepStrictEqual(seen.map(essence), lines.map(essence), `${width}x${height}`)
        })
      for (const width of [7, 18, 41, 60, 80, 121]) {
        const team = nastyTeam(81)
        yield* frame(team, width, 85)
        yield* frame(team, width, 12)
        for (const selected of ["2", "4", "6"]) yield* frame({ ...team, details: true, selected }, width, 60)
      }
    }), hangs)
})

const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}]/u

/** Without colours, and of each grapheme the first character that takes columns: a terminal may not keep the others. */
const essence = (line: string): string =>
  graphemes(line.replace(/\u001b\[[\d;]*m/g, "").trimEnd())
    .map((grapheme) => [...grapheme].find((one) => !unseen.test(one)) ?? "").join("")
