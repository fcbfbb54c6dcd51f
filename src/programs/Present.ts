/**
 * Shortens the person's home directory to `~`: no private path reaches a model or a person (spec 4). Only a path that
 * begins there, or the one of a `file:` URL: `/srv/root/x` has nothing to do with the home `/root`.
 */
export const withoutHome = (text: string, home: string): string => {
  if (home.length < 2) return text
  const literal = home.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  const begins = "(?:(?<=file://)|(?<![\\p{L}\\p{N}_./\\\\-]))"
  return text.replace(new RegExp(`${begins}${literal}(?=[/\\\\\\s"',.;:)]|$)`, "gu"), "~")
}
