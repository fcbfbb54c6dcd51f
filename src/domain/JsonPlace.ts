/** Where a text stops being JSON: what the parser of Node does not always say. */

const blank = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The end of what `pattern` matches at `from`; none where it does not. */
const after = (pattern: RegExp, text: string, from: number): number | undefined => {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The end of the string that begins at `from`; a negative number is the place that is wrong, less one. */
const afterString = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length) {
    if (text[at] === "\"") return at + 1
    const next = text[at] === "\\" ? after(escape, text, at) : text.charCodeAt(at) < 32 ? undefined : at + 1
    if (next === undefined) return -at - 1
    at = next
  }
  // It is its beginning that has no end.
  return -from - 1
}

/** The offset at which a text stops being JSON, its length when only its rest is missing; none for JSON. */
const failsAt = (text: string): number | undefined => {
  const open: Array<"{" | "["> = []
  let wanted: "value" | "value or ]" | "key" | "key or }" | ":" | ", or end" = "value"
  let at = 0
  for (;;) {
    at = after(blank, text, at) ?? at
    const char = text[at]
    const inside = open.at(-1)
    const key: boolean = wanted.startsWith("key")
    if (char === undefined) return wanted === ", or end" && inside === undefined ? undefined : at
    const closes = (char === "}" && inside === "{" && (wanted === "key or }" || wanted === ", or end")) ||
      (char === "]" && inside === "[" && (wanted === "value or ]" || wanted === ", or end"))
    if (closes) {
      open.pop()
      wanted = ", or end"
      at++
    } else if (wanted === ", or end") {
      if (char !== "," || inside === undefined) return at
      wanted = inside === "{" ? "key" : "value"
      at++
    } else if (wanted === ":") {
      if (char !== ":") return at
      wanted = "value"
      at++
    } else if (char === "\"") {
      const end = afterString(text, at)
      if (end < 0) return -end - 1
      wanted = key ? ":" : ", or end"
      at = end
    } else if (key) return at
    else if (char === "{" || char === "[") {
      open.push(char)
      wanted = char === "{" ? "key or }" : "value or ]"
      at++
    } else {
      const end = after(scalar, text, at)
      if (end === undefined) return at
      wanted = ", or end"
      at = end
    }
  }
}

/** Said of a file in which nothing is: there is nothing to correct. */
export const empty = "it is empty"

/** Why a text is not JSON, as the end of a sentence, with the line and column (of UTF-16 units) of the first fault. */
export const whyNotJson = (text: string): string => {
  if (/^\s*$/.test(text)) return empty
  if (text.startsWith("\uFEFF")) return "it is not valid JSON (it begins with a byte order mark; save it without one)"
  const at = failsAt(text)
  if (at === undefined) return "it is not valid JSON"
  const before = text.slice(0, at).split("\n")
  const place = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`
  return `it is not valid JSON (${at === text.length ? "it breaks off at " : ""}${place})`
}
