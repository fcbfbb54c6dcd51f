/** What the monitor says by colour beside its words; without colour the text is the same (spec 8). */
export type Tone = "working" | "thinking" | "idle" | "needsYou" | "old" | "oldNeedsYou" | "quiet" | "none"

const codes: Readonly<Record<Tone, string>> = {
  working: "36",
  thinking: "35",
  idle: "32",
  needsYou: "33",
  old: "2",
  oldNeedsYou: "2;33",
  quiet: "2",
  none: ""
}

/** Adds SGR around a text that is fit for a terminal already, and nothing else. */
export type Style = (text: string, tone: Tone, bold?: boolean) => string

/** Without colour (`NO_COLOR`, `TERM=dumb`). */
export const bare: Style = (text) => text

/** With the eight colours that every terminal theme has. */
export const coloured: Style = (text, tone, bold = false) => {
  const code = [bold ? "1" : "", codes[tone]].filter((one) => one !== "").join(";")
  return code === "" || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`
}
