import * as Schema from "effect/Schema"

/** Lengths count UTF-16 code units everywhere, as `@comput/pi-intercom` 0.6.1 counts them. */

const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f-\u009f]/.test(text)

/** The end of a sentence that says what is wrong with a text; undefined of one that is right. */
type Rule = (text: string) => string | undefined

const blank: Rule = (text) => text.trim().length === 0 ? "must not be blank" : undefined
const nul: Rule = (text) => text.includes("\u0000") ? "must not contain NUL" : undefined

/**
 * A string of `min` to `max` UTF-16 units that keeps these rules; told is the first that it breaks. They are one refinement:
 * a chain of them takes several times as long, and a team has thousands of such fields.
 */
const ruled = (min: number, max: number, ...rules: ReadonlyArray<Rule>) =>
  Schema.String.pipe(Schema.filter((text) => {
    if (text.length < min) return `must be at least ${min} characters long`
    if (text.length > max) return `must be at most ${max} characters long`
    for (const rule of rules) {
      const wrong = rule(text)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }, { jsonSchema: { ...(min === 0 ? {} : { minLength: min }), maxLength: max } }))

/** Text of 1 to `max` UTF-16 units, not blank, without NUL. */
export const boundedText = (max: number) => ruled(1, max, blank, nul)

/** A Pi session's id: 1–256 characters, not blank, no NUL (spec 1.1). */
export const SessionId = boundedText(256).pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** A session's name in its team: 1–128 characters, no blank at either end, no control character (spec 1.1). */
export const AgentName = ruled(
  1,
  128,
  (name) => name === name.trim() ? undefined : "must not begin or end with a blank",
  (name) => hasControl(name) ? "must not contain a control character" : undefined
).pipe(Schema.brand("AgentName"))
export type AgentName = typeof AgentName.Type

/** The coordinator's name; no worker may have it in any case (spec 1.1). */
export const coordinatorName: AgentName = AgentName.make("Coordinator")

/** Two names are the same when they are equal without regard to case (spec 1.1, 4). */
export const nameKey = (name: string): string => name.toLowerCase()

/** A responsibility: 1–4096 characters, not blank, no NUL (spec 1.1). */
export const Responsibility = boundedText(4096)

/** A TCP port, 1–65535. In the team file: the last one a session was bound to, never evidence that it lives. */
export const Port = Schema.Int.pipe(Schema.between(1, 65535), Schema.brand("Port"))
export type Port = typeof Port.Type

/** Job, instance, nonce and message ids: `[A-Za-z0-9-]{1,128}` (spec 1.1, 2.3). */
export const Token = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9-]{1,128}$/, { message: () => "must be 1 to 128 letters, digits and hyphens" })
)

/** ISO-8601, at most 32 characters, parseable (spec 1.1). */
export const Timestamp = ruled(
  0,
  32,
  (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(text)
      ? undefined
      : "must be an ISO-8601 time with a zone",
  (text) => Number.isNaN(Date.parse(text)) ? "must be a date that exists" : undefined
)

/** A public handoff summary: 1–4000 characters, not blank, no NUL (spec 1.1). */
export const Summary = boundedText(4000)

/** The multiplexers a team file can name (spec 1.1). */
export const MultiplexerKind = Schema.Literal("herdr", "tmux", "none").annotations({
  message: () => ({ message: "must be \"herdr\", \"tmux\" or \"none\"", override: true })
})
export type MultiplexerKind = typeof MultiplexerKind.Type

const rootRelative = (path: string): boolean =>
  path === "." ||
  (path.length > 0 && !path.includes("\\") && !/^[A-Za-z]:/.test(path) &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== ".."))

/** A directory below the root: `.` or `a/b`, `/` separators, no `..`, not absolute in POSIX or Windows form (spec 1.1). */
export const ProjectDirectory = ruled(
  0,
  4096,
  nul,
  (path) => rootRelative(path) ? undefined : "must be relative to the root, with / separators and without \"..\""
)
