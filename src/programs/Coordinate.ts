import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Port, SessionId } from "../domain/Primitives.ts"
import { agentBySession, proposeConfig, type TeamConfig } from "../domain/TeamConfig.ts"
import { ConfigStore } from "../services/ConfigStore.ts"
import { SessionScope } from "../services/SessionScope.ts"
import type { Member } from "./Membership.ts"
import { ownPort } from "./Post.ts"

/** The coordinator's entry with the port it is bound to now, and without the legacy `dashboardPort` (spec 3.2). */
const present = (sessionId: SessionId, port: Port) => (config: TeamConfig) => {
  const self = agentBySession(config, sessionId)
  if (self === undefined || (self.port === port && self.dashboardPort === undefined)) return Either.right(config)
  const { dashboardPort: _, ...kept } = self
  const agents = config.agents.map((agent) => agent === self ? { ...kept, port } : agent)
  return proposeConfig(config, { agents })
}

/** What the team's folder needs of its coordinator, at each of its starts (spec 1.3, 1.4). */
export const keepHouse = Effect.fn("keepHouse")(function*(root: string) {
  const store = yield* ConfigStore
  yield* store.ensureGitignore(root)
  yield* store.sweep(root)
})

/** Takes up the work of the coordinator that the file names: this session (spec 3.2). */
export const coordinate = Effect.fn("coordinate")(function*(standing: Member) {
  const { guard, sessionId } = yield* SessionScope
  const port = yield* ownPort
  yield* (yield* ConfigStore).update(standing.root, sessionId, guard, present(sessionId, port))
  yield* keepHouse(standing.root)
})
