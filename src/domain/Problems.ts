import * as ParseResult from "effect/ParseResult"

/** What is wrong with untrusted input, with the first failing path, e.g. `agents[2].port: …`. */
export interface Invalid {
  readonly path: string
  readonly problem: string
}

/** A key of untrusted input is somebody's text: it brings neither instructions nor a screenful into a sentence. */
const cleanKey = (key: PropertyKey): string => String(key).slice(0, 64).replace(/[^\w.-]/g, "?")

/** A path as people write it: `agents[2].port`. Keys are cleaned, and cut at 64 characters. */
export const pathOf = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? cleanKey(part) : `${text}.${cleanKey(part)}`,
    ""
  )

/** Said of the object that has a key it should not have. The key itself is not named: it is the sender's text. */
export const unknownKey = "there is a key that does not belong here"

/** Effect's own words for a refinement that failed, as the end of a sentence, without the offending value. */
const inWords = (message: string): string => {
  if (/^Expected \{/.test(message)) return "must be an object"
  if (/^Expected (ReadonlyArray|maxItems)/.test(message)) return "must be a list"
  if (message.startsWith("is unexpected")) return unknownKey
  const plain = message.replace(/, actual [\s\S]*$/, "").slice(0, 160)
  return plain
    .replace(/^Expected a string at (most|least) (\d+) character\(s\) long$/, "must be at $1 $2 characters long")
    .replace(/^Expected (string|number|boolean)$/, "must be a $1")
    .replace(/^Expected /, "must be ")
}

/** The first problem of a parse error as one line without the offending value: it may be private or huge. */
export const firstProblem = (error: ParseResult.ParseError): Invalid => {
  const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
  if (issue === undefined) return { path: "", problem: "does not have the expected form" }
  const problem = inWords(issue.message)
  return { path: pathOf(problem === unknownKey ? issue.path.slice(0, -1) : issue.path), problem }
}

/** A problem as the end of a sentence. */
export const describe = (invalid: Invalid): string =>
  invalid.path === "" ? invalid.problem : `${invalid.path}: ${invalid.problem}`
