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

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An object from JSON. */
export type Fields = Readonly<Record<string, unknown>>
/** The fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Fields => isObject(value) ? { ...value } : {}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? ""

/** How tests name a field of another version, which is kept (spec 1.1): only what it says is judged. */
const foreign = /^x-/
/** Tests count in fields of other versions; a process or a port has more digits. */
const maxCount = 999

const isPrivateForeign = (value: unknown): boolean => {
  if (typeof value === "string") return private_.test(value)
  if (typeof value === "number") return value > maxCount
  return typeof value === "object" && value !== null &&
    Object.entries(value).some(([key, one]) => private_.test(key) || isPrivateForeign(one))
}

/** The known fields that hold others, which are judged by themselves: all others say one word, number or yes. */
const holds: Readonly<Record<string, (value: unknown) => boolean>> = {
  "file.agents": Array.isArray,
  "agent.handoff": isObject,
  "agent.closeJob": isObject
}

const isPrivate = (kind: keyof typeof keys, key: string, value: unknown): boolean => {
  const held = holds[`${kind}.${key}`]
  if (held !== undefined) return !held(value)
  if (typeof value === "string") return private_.test(value)
  return typeof value === "number" ? !numbers.has(key) : typeof value !== "boolean"
}

/** Of one object: its unknown fields, and the known ones that say what they must not. */
const ofFields = (at: string, fields: Fields, kind: keyof typeof keys): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([key, value]) =>
    (foreign.test(key) ? isPrivateForeign(value) : !keys[kind].has(key) || isPrivate(kind, key, value))
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
    ...ofFields("file", file, "file"),
    ...agents.flatMap((value) => {
      if (!isObject(value)) return [`agent: ${shown(value)}`]
      const agent = fieldsOf(value)
      const at = `agent ${shown(agent["sessionId"])}`
      return [
        ...ofFields(at, agent, "agent"),
        ...ofFields(`${at}.handoff`, fieldsOf(agent["handoff"]), "handoff"),
        ...ofFields(`${at}.closeJob`, fieldsOf(agent["closeJob"]), "closeJob")
      ]
    })
  ]
}
