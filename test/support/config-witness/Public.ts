/** Panes of tmux and Herdr, ttys, tmux's servers, saved sessions. */
const private_ = /%\d|\bw\d+:[pt]\d|\bterm-\d|\/dev\/|\btmux:\d|\.jsonl|\/sessions\//

const numbers: ReadonlySet<string> = new Set(["version", "port", "dashboardPort"])
/** What a team file may say (spec 1.1), by where. */
const keys = {
  file: new Set(["version", "multiplexer", "agents"]),
  agent: new Set([
    ...["sessionId", "name", "coordinator", "description", "port", "projectDirectory"],
    ...["handoff", "closeJob", "dashboardPort"]
  ]),
  handoff: new Set(["version", "jobId", "summary", "updatedAt"]),
  closeJob: new Set(["jobId", "state", "createdAt", "updatedAt", "deadlineAt", "reason"])
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // A person's half-written file.
    return { text }
  }
}

/** An object from JSON. */
export type Fields = Readonly<Record<string, unknown>>
/** The fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}

const isPrivate = (key: string, value: unknown): boolean =>
  typeof value === "string" ? private_.test(value) : typeof value === "number" && !numbers.has(key)

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? ""

/** How tests name a field of another version, which is kept (spec 1.1): only what it says is judged. */
const foreign = /^x-/

/** Of one object: its unknown fields, and the known ones that say what they must not. */
const ofFields = (at: string, fields: Fields, known: ReadonlySet<string>): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([key, value]) =>
    (foreign.test(key) ? isPrivate(key, JSON.stringify(value)) : !known.has(key) || isPrivate(key, value))
      ? [`${at}.${key}: ${shown(value)}`]
      : []
  )

/**
 * What a text of the team file says that is not public: a field that spec 1.1 does not name, or a pane, a tty, a process
 * or a saved session in one that it names. Each as `agent ….field: value`.
 */
export const findings = (text: string): ReadonlyArray<string> => {
  const file = fieldsOf(parse(text))
  const agents: ReadonlyArray<unknown> = Array.isArray(file["agents"]) ? file["agents"] : []
  return [
    ...ofFields("file", file, keys.file),
    ...agents.map(fieldsOf).flatMap((agent) => {
      const at = `agent ${shown(agent["sessionId"])}`
      return [
        ...ofFields(at, agent, keys.agent),
        ...ofFields(`${at}.handoff`, fieldsOf(agent["handoff"]), keys.handoff),
        ...ofFields(`${at}.closeJob`, fieldsOf(agent["closeJob"]), keys.closeJob)
      ]
    })
  ]
}
