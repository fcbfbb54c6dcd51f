/** Shortens the person's home directory to `~`: no private path reaches a model or a person (spec 4). */
export const withoutHome = (text: string, home: string): string => {
  if (home.length < 2) return text
  const literal = home.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return text.replace(new RegExp(`${literal}(?=[/\\\\\\s"',.;:)]|$)`, "g"), "~")
}
