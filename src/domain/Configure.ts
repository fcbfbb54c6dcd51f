import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ConfigRefused } from "./ConfigErrors.ts"
import { describe, firstProblem } from "./Problems.ts"
import { Agent, agentBySession, coordinatorOf, hasWorkers, proposeConfig, type TeamConfig } from "./TeamConfig.ts"

/** What `configure` did: the whole config, the entry, and whether it is the team's first worker. */
export interface Configured {
  readonly config: TeamConfig
  readonly agent: Agent
  readonly first: boolean
}

const decodeAgent = Schema.decodeUnknownEither(Agent)

/**
 * Appends or replaces the entry of a session (spec 1.5). Replacing keeps handoff, closeJob and unknown keys; `allow` is
 * asked with the entry that would be replaced. The coordinator's own id is refused. `projectDirectory` is already
 * root-relative.
 */
export const configureAgent = <E>(
  config: TeamConfig,
  values: {
    readonly sessionId: string
    readonly name: string
    readonly description: string
    readonly port: number
    readonly projectDirectory: string
  },
  allow: (replaced: Agent | undefined) => Either.Either<void, E>
): Either.Either<Configured, E | ConfigRefused> => {
  if (values.sessionId === coordinatorOf(config).sessionId) {
    return Either.left(new ConfigRefused({ detail: "this session id is the coordinator's own" }))
  }
  const replaced = agentBySession(config, values.sessionId)
  const allowed = allow(replaced)
  if (Either.isLeft(allowed)) return Either.left(allowed.left)
  const decoded = decodeAgent({ ...replaced, ...values, coordinator: false })
  if (Either.isLeft(decoded)) {
    return Either.left(new ConfigRefused({ detail: describe(firstProblem(decoded.left)) }))
  }
  const agent = decoded.right
  const agents = replaced === undefined
    ? [...config.agents, agent]
    : config.agents.map((other) => other === replaced ? agent : other)
  return Either.map(proposeConfig(config, { agents }), (changed) => ({
    config: changed,
    agent,
    first: !hasWorkers(config)
  }))
}
