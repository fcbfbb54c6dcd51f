/** Bounds of what a tool returns to a model (spec 4): always valid JSON, at most 50 KiB and 2000 lines. */
export const maxResultBytes = 50 * 1024
export const maxResultLines = 2000

const render = (value: unknown): string => JSON.stringify(value, null, 2)
const bytes = (text: string): number => new TextEncoder().encode(text).length
const fits = (text: string): boolean => bytes(text) <= maxResultBytes && text.split("\n").length <= maxResultLines

/** A result without a list. */
export const result = (value: object): string => {
  const text = render(value)
  return fits(text) ? text : render({ error: "The result was too large to show and was left out." })
}

/** A result whose list `key` is cut to the items that fit, whole; how many were left out is said in `omitted`. */
export const resultWithList = (head: object, key: string, items: ReadonlyArray<unknown>): string => {
  const withItems = (count: number): string =>
    render(
      count === items.length
        ? { ...head, [key]: items }
        : { ...head, omitted: items.length - count, [key]: items.slice(0, count) }
    )
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(withItems(middle))) low = middle
    else high = middle - 1
  }
  return withItems(low)
}
