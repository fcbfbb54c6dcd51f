import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { CloseJob, Handoff } from "./CloseTable.ts"
import { ConfigRefused } from "./ConfigErrors.ts"
import { whyNotJson } from "./JsonPlace.ts"
import {
  AgentName,
  coordinatorName,
  MultiplexerKind,
  nameKey,
  Port,
  ProjectDirectory,
  Responsibility,
  SessionId
} from "./Primitives.ts"
import { describe, firstProblem, type Invalid, pathOf } from "./Problems.ts"

/** The file is at most 8 MiB, for whoever writes and whoever reads it (spec 1.1). */
export const maxConfigBytes = 8 * 1024 * 1024
/** At most 256 workers beside the coordinator (spec 1.1). */
export const maxWorkers = 256

const unknownKeys = { key: Schema.String, value: Schema.Unknown } as const

/** One session of the team. Unknown keys are kept: another version may own them (spec 1.1). */
export const Agent = Schema.Struct({
  sessionId: SessionId,
  name: AgentName,
  coordinator: Schema.Boolean,
  description: Responsibility,
  port: Port,
  projectDirectory: ProjectDirectory,
  handoff: Schema.optionalWith(Handoff, { exact: true }),
  closeJob: Schema.optionalWith(CloseJob, { exact: true }),
  dashboardPort: Schema.optionalWith(Port, { exact: true })
}, unknownKeys)
export type Agent = typeof Agent.Type

const Fields = Schema.Struct({
  version: Schema.Literal(1),
  multiplexer: MultiplexerKind,
  agents: Schema.Array(Agent).pipe(Schema.maxItems(maxWorkers + 1, {
    message: () => `at most ${maxWorkers} workers beside the coordinator`
  }))
}, unknownKeys)

/** The team file, version 1. Build values with {@link decodeConfig} or {@link changeConfig}: they check the rules between agents. */
export type TeamConfig = typeof Fields.Type

const coordinatorKey = nameKey(coordinatorName)

const checkAgent = (agent: Agent, key: string, index: number): Invalid | undefined => {
  const at = (field: string, problem: string): Invalid => ({ path: `agents[${index}].${field}`, problem })
  if (agent.coordinator) {
    if (agent.name !== coordinatorName) return at("name", `the coordinator's name is exactly ${coordinatorName}`)
    if (agent.projectDirectory !== ".") return at("projectDirectory", "the coordinator's is .")
    if (agent.handoff !== undefined) return at("handoff", "only workers have one")
    if (agent.closeJob !== undefined) return at("closeJob", "only workers have one")
    return undefined
  }
  if (key === coordinatorKey) return at("name", "no worker may have the coordinator's name")
  if (agent.dashboardPort !== undefined) return at("dashboardPort", "only the coordinator has one")
  return undefined
}

/** The rules between agents (spec 1.1): one coordinator, unique ids and names, at most 256 workers. */
export const checkRules = (config: TeamConfig): Invalid | undefined => {
  const ids = new Set<string>()
  const names = new Set<string>()
  let coordinators = 0
  for (const [index, agent] of config.agents.entries()) {
    const key = nameKey(agent.name)
    const problem = checkAgent(agent, key, index)
    if (problem !== undefined) return problem
    if (ids.add(agent.sessionId).size === index) {
      return { path: `agents[${index}].sessionId`, problem: "two agents have this session id" }
    }
    if (names.add(key).size === index) return { path: `agents[${index}].name`, problem: "two agents have this name" }
    if (agent.coordinator) coordinators += 1
  }
  if (coordinators !== 1) {
    return { path: "agents", problem: `exactly one agent is the coordinator, not ${coordinators}` }
  }
  if (config.agents.length > maxWorkers + 1) return { path: "agents", problem: `at most ${maxWorkers} workers` }
  return undefined
}

/** Nothing in a team file is nested deeper; what is would overflow the stack of whoever writes it back. */
export const maxDepth = 64

/** Level by level, not recursive: the text is untrusted. `__proto__` would become the prototype of what is decoded. */
const checkTree = (json: unknown): Invalid | undefined => {
  let level = [json]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return { path: "", problem: `it is nested more than ${maxDepth} levels deep` }
    const below: Array<unknown> = []
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue
      if (Object.hasOwn(value, "__proto__")) return { path: "", problem: "it contains the key __proto__" }
      for (const child of Object.values(value)) below.push(child)
    }
    level = below
  }
  return undefined
}

const decodeFields = Schema.decodeUnknownEither(Fields)
const decodeAgent = Schema.decodeUnknownEither(Agent)
const parseJson = Schema.decodeUnknownEither(Schema.parseJson())

/** Reads a team file's text: JSON, then the schema, then the rules between agents. */
export const decodeConfig = (text: string): Either.Either<TeamConfig, Invalid> => {
  const json = parseJson(text)
  if (Either.isLeft(json)) return Either.left({ path: "", problem: whyNotJson(text) })
  const hostile = checkTree(json.right)
  if (hostile !== undefined) return Either.left(hostile)
  const fields = decodeFields(json.right)
  if (Either.isLeft(fields)) return Either.left(firstProblem(fields.left))
  const broken = checkRules(fields.right)
  return broken === undefined ? Either.right(fields.right) : Either.left(broken)
}

const entry = (key: string, text: string): string => `  ${JSON.stringify(key)}: ${text}`
const indented = (value: unknown, blanks: string): string =>
  JSON.stringify(value, null, 2).replaceAll("\n", `\n${blanks}`)

/** The text of an entry, in its place in the file: an update changes one of up to 257 and writes all. */
const agentTexts = new WeakMap<Agent, string>()
const agentText = (agent: Agent): string => {
  const known = agentTexts.get(agent)
  if (known !== undefined) return known
  // Joined, not concatenated: copying a text that V8 keeps in pieces takes three times as long, each time.
  const text = ["    ", indented(agent, "    ")].join("")
  agentTexts.set(agent, text)
  return text
}

/** A team file's text, as `JSON.stringify` with two spaces writes it, and a final newline (spec 1). */
export const encodeConfig = (config: TeamConfig): string => {
  const entries = Object.entries(config).map(([key, value]) =>
    entry(key, key === "agents" ? `[\n${config.agents.map(agentText).join(",\n")}\n  ]` : indented(value, "  "))
  )
  return `{\n${entries.join(",\n")}\n}\n`
}

/** By a changed config the one it was made of here: what a caller has proposed the store need not check again. */
const origins = new WeakMap<TeamConfig, TeamConfig>()

/**
 * Replaces the agents of a valid config, or the multiplexer: validates the agents that are not in it by reference, and
 * the rules between all. What `change` does not name is kept.
 */
export const changeConfig = (
  config: TeamConfig,
  change: Partial<TeamConfig>
): Either.Either<TeamConfig, Invalid> => {
  const next: TeamConfig = { ...config, ...change }
  for (const [index, agent] of next.agents.entries()) {
    if (agent === config.agents[index] || config.agents.includes(agent)) continue
    const decoded = decodeAgent(agent)
    if (Either.isLeft(decoded)) {
      const invalid = firstProblem(decoded.left)
      return Either.left({
        ...invalid,
        path: `${pathOf(["agents", index])}${invalid.path === "" ? "" : `.${invalid.path}`}`
      })
    }
  }
  const broken = checkRules(next)
  if (broken !== undefined) return Either.left(broken)
  origins.set(next, config)
  return Either.right(next)
}

/** {@link changeConfig}, unless `wanted` was made by it from this very config. */
export const ensureChange = (config: TeamConfig, wanted: TeamConfig): Either.Either<TeamConfig, Invalid> =>
  origins.get(wanted) === config ? Either.right(wanted) : changeConfig(config, wanted)

/** {@link changeConfig} for a caller who asked for the change: a broken rule becomes the refusal it is told. */
export const proposeConfig = (
  config: TeamConfig,
  change: { readonly agents?: ReadonlyArray<Agent>; readonly multiplexer?: MultiplexerKind }
): Either.Either<TeamConfig, ConfigRefused> =>
  Either.mapLeft(changeConfig(config, change), ({ path, problem }) =>
    // Who asked for one entry is not helped by its place in the file.
    new ConfigRefused({ detail: describe({ path: path.replace(/^agents\[\d+\]\./, ""), problem }) }))

/** The session that coordinates; every valid config has exactly one. */
export const coordinatorOf = (config: TeamConfig): Agent => {
  for (const agent of config.agents) if (agent.coordinator) return agent
  throw new Error("a valid team file has a coordinator")
}

/** Whether somebody works for the coordinator. */
export const hasWorkers = (config: TeamConfig): boolean => config.agents.some((agent) => !agent.coordinator)

/** The entry of a session, if it has one. */
export const agentBySession = (config: TeamConfig, sessionId: string): Agent | undefined =>
  config.agents.find((agent) => agent.sessionId === sessionId)

/** The entry with this name, without regard to case. */
export const agentByName = (config: TeamConfig, name: string): Agent | undefined => {
  const key = nameKey(name.trim())
  return config.agents.find((agent) => nameKey(agent.name) === key)
}

/** The responsibility a published coordinator starts with (spec 1.3). */
export const coordinatorResponsibility =
  "Coordinates the team: delegates work, reviews reports, keeps the shared configuration."

/** The file of a first publication (spec 1.3). */
export const firstConfig = (
  sessionId: SessionId,
  port: Port,
  multiplexer: MultiplexerKind
): TeamConfig => ({
  version: 1,
  multiplexer,
  agents: [{
    sessionId,
    name: coordinatorName,
    coordinator: true,
    description: coordinatorResponsibility,
    port,
    projectDirectory: "."
  }]
})
