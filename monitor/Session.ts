import type { News } from "./News.ts"
import { repaint } from "./Screen.ts"
import { initial, withCheck, withKey, withSnapshot } from "./State.ts"
import type { Style } from "./Style.ts"
import { view } from "./View.ts"

/** The size of a terminal in columns and rows. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** What a terminal shows of a team, by what is learned of it and by the keys of who looks at it. */
export interface Session {
  readonly learn: (news: News) => void
  /** Obeys a key, by its name in pi-tui, at a time in ms since the epoch; answers whether it quits. */
  readonly press: (key: string, now: number) => boolean
  /** What makes the terminal show how things are now; empty when it does. All of it at another size. */
  readonly draw: (size: Size, now: number) => string
}

/**
 * Begins, at a time in ms since the epoch, with nothing known and nothing shown. It is no program of effects: beside many
 * Pis its memory counts.
 */
export const session = (root: string, version: string, style: Style, startedAt: number): Session => {
  let state = initial(root, startedAt)
  let shown: { readonly size: Size; readonly lines: ReadonlyArray<string> } | undefined
  return {
    learn: (news) => {
      state = news._tag === "Read"
        ? withSnapshot(state, news.snapshot, news.at)
        : withCheck(state, news.endpoint, news.probe, news.at)
    },
    press: (key, now) => {
      state = withKey(state, key, now)
      return state.quit
    },
    draw: (size, now) => {
      const before = shown?.size.width === size.width && shown.size.height === size.height ? shown.lines : undefined
      const lines = view(state, { ...size, now, version, style })
      shown = { size, lines }
      return repaint(before, lines)
    }
  }
}
