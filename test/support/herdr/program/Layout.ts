import { type Row, rows } from "./Tmux.ts"

interface Rect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Split {
  readonly id: string
  readonly direction: "right" | "down"
  readonly ratio: number
  readonly rect: Rect
}

/**
 * tmux's `window_layout` (`checksum,80x24,0,0[80x6,0,0,1,80x17,0,7,2]`) as Herdr's splits, each of two: of several
 * panes in a row, one and the rest.
 */
export const splitsOf = (layout: string): ReadonlyArray<Split> => {
  const splits: Array<Split> = []
  let at = layout.indexOf(",") + 1
  const cell = (): Rect => {
    const [text = "", width, height, x, y] = /^(\d+)x(\d+),(\d+),(\d+)/.exec(layout.slice(at)) ?? []
    const rect = { x: Number(x), y: Number(y), width: Number(width), height: Number(height) }
    at += text.length
    const open = layout[at]
    if (open !== "{" && open !== "[") {
      at += /^,\d+/.exec(layout.slice(at))?.[0].length ?? 0
      return rect
    }
    const side = open === "{" ? "width" : "height"
    let rest: Rect = rect
    do {
      at += 1
      const one = cell()
      if (layout[at] === ",") {
        splits.push({
          id: `s${splits.length + 1}`,
          direction: open === "{" ? "right" : "down",
          ratio: one[side] / rest[side],
          rect: rest
        })
        const taken = one[side] + 1
        rest = open === "{"
          ? { ...rest, x: rest.x + taken, width: rest.width - taken }
          : { ...rest, y: rest.y + taken, height: rest.height - taken }
      }
    } while (layout[at] === ",")
    at += 1
    return rect
  }
  cell()
  return splits
}

/** Where the panes of a tab are. */
export const layoutOf = (tab: string) => {
  const panes = rows().filter((one) => one.tab === tab)
  const focused: Row | undefined = panes.find((one) => one.active)
  return {
    workspace_id: focused?.workspace,
    tab_id: tab,
    zoomed: focused?.zoomed,
    area: { x: 0, y: 0, width: focused?.tabWidth, height: focused?.tabHeight },
    focused_pane_id: focused?.id,
    panes: panes.map((one) => ({ pane_id: one.id, focused: one.active, rect: one.rect })),
    splits: splitsOf(focused?.layout ?? "")
  }
}
