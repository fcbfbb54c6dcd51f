/**
 * `@comput/pi-intercom` 0.6.1's rules for a team file, written by hand from spec 1.1 and sharing nothing with
 * src/domain: what we write must still be readable there. Answers the first broken rule.
 */

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown, max: number): value is string =>
  typeof value === "string" && value.length >= 1 && value.length <= max && value.trim() !== "" &&
  !value.includes("\0")

const isPort = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65535

const isTime = (value: unknown): boolean =>
  typeof value === "string" && value.length <= 32 && /^\d{4}-\d{2}-\d{2}T/.test(value) &&
  Number.isFinite(Date.parse(value))

const isToken = (value: unknown): boolean => typeof value === "string" && /^[A-Za-z0-9-]{1,128}$/.test(value)

const isDirectory = (value: unknown): boolean => {
  if (typeof value !== "string" || value === "" || value.includes("\0")) return false
  if (value.startsWith("/") || value.startsWith("\\") || /^[a-zA-Z]:/.test(value)) return false
  return !value.split(/[/\\]/).includes("..")
}

const onlyKeys = (value: Json, allowed: ReadonlyArray<string>): boolean =>
  Object.keys(value).every((key) => allowed.includes(key))

const states = [
  "requested",
  "awaiting_handoff",
  "awaiting_settlement",
  "ready",
  "closing",
  "uncertain",
  "closed",
  "failed",
  "timed_out",
  "interrupted"
]
const reasons = [
  "timeout",
  "interrupted",
  "delivery_failed",
  "identity_failed",
  "save_failed",
  "worker_changed",
  "worker_busy",
  "commit_rejected",
  "close_unverified",
  "close_failed"
]

const handoffProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "handoff is not an object"
  if (!onlyKeys(value, ["version", "jobId", "summary", "updatedAt"])) return "handoff has an unknown key"
  const fine = value["version"] === 1 && isToken(value["jobId"]) && isText(value["summary"], 4000) &&
    isTime(value["updatedAt"])
  return fine ? undefined : "handoff is invalid"
}

const closeJobProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "closeJob is not an object"
  if (!onlyKeys(value, ["jobId", "state", "createdAt", "updatedAt", "deadlineAt", "reason"])) {
    return "closeJob has an unknown key"
  }
  const fine = isToken(value["jobId"]) && states.some((state) => state === value["state"]) &&
    isTime(value["createdAt"]) && isTime(value["updatedAt"]) && isTime(value["deadlineAt"]) &&
    (!("reason" in value) || reasons.some((reason) => reason === value["reason"]))
  return fine ? undefined : "closeJob is invalid"
}

const nameProblem = (value: unknown, coordinator: boolean): string | undefined => {
  if (typeof value !== "string" || value.length < 1 || value.length > 128) return "name has a wrong length"
  if (value.trim() !== value) return "name has a blank at an end"
  for (const char of value) {
    const code = char.codePointAt(0) ?? 0
    if (code < 32 || (code >= 127 && code < 160)) return "name has a control character"
  }
  if (coordinator) return value === "Coordinator" ? undefined : "the coordinator is not called Coordinator"
  return value.toLowerCase() === "coordinator" ? "a worker is called coordinator" : undefined
}

const agentProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "an agent is not an object"
  const coordinator = value["coordinator"]
  if (typeof coordinator !== "boolean") return "coordinator is not a boolean"
  if (!isText(value["sessionId"], 256)) return "sessionId is invalid"
  const name = nameProblem(value["name"], coordinator)
  if (name !== undefined) return name
  if (!isText(value["description"], 4096)) return "description is invalid"
  if (!isPort(value["port"])) return "port is invalid"
  if (!isDirectory(value["projectDirectory"])) return "projectDirectory is invalid"
  if (coordinator && value["projectDirectory"] !== ".") return "the coordinator is not at the root"
  if ("dashboardPort" in value && !(coordinator && isPort(value["dashboardPort"]))) return "dashboardPort is invalid"
  for (const [key, problem] of [["handoff", handoffProblem], ["closeJob", closeJobProblem]] as const) {
    if (!(key in value)) continue
    if (coordinator) return `the coordinator has a ${key}`
    const found = problem(value[key])
    if (found !== undefined) return found
  }
  return undefined
}

/** The first rule of 0.6.1 that this file breaks, or none. */
export const legacyProblem = (text: string): string | undefined => {
  if (Buffer.byteLength(text) > 8 * 1024 * 1024) return "the file is too large"
  const json: unknown = JSON.parse(text)
  if (!isObject(json)) return "the file is not an object"
  if (json["version"] !== 1) return "version is not 1"
  if (json["multiplexer"] !== "herdr" && json["multiplexer"] !== "none") return "multiplexer is unknown"
  const agents = json["agents"]
  if (!Array.isArray(agents)) return "agents is not a list"
  const seen = new Set<string>()
  let coordinators = 0
  for (const agent of agents) {
    const problem = agentProblem(agent)
    if (problem !== undefined) return problem
    for (const key of [`id ${agent.sessionId}`, `name ${String(agent.name).toLowerCase()}`]) {
      if (seen.has(key)) return `two agents share ${key.split(" ")[0]}`
      seen.add(key)
    }
    if (agent.coordinator === true) coordinators += 1
  }
  if (coordinators !== 1) return "there is not exactly one coordinator"
  return agents.length > 257 ? "there are more than 256 workers" : undefined
}
