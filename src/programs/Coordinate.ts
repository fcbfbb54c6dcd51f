import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Port, SessionId } from "../domain/Primitives.ts"
import { agentBySession, coordinatorOf, hasWorkers, proposeConfig, type TeamConfig } from "../domain/TeamConfig.ts"
import { ConfigReader } from "../services/ConfigReader.ts"
import { ConfigStore } from "../services/ConfigStore.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { CloseJobs } from "./close/CloseJobs.ts"
import type { Member } from "./Membership.ts"
import { ensureMonitor } from "./MonitorPane.ts"
import { ownPort } from "./Post.ts"

/** The coordinator's entry with the port it is bound to now, and without the legacy `dashboardPort` (spec 3.2). */
const present = (sessionId: SessionId, port: Port) => (config: TeamConfig) => {
  const self = agentBySession(config, sessionId)
  if (self === undefined || (self.port === port && self.dashboardPort === undefined)) return Either.right(config)
  const { dashboardPort: _, ...kept } = self
  const agents = config.agents.map((agent) => agent === self ? { ...kept, port } : agent)
  return proposeConfig(config, { agents })
}

/** Prunes the logs now and each minute, while the file names this session as coordinator (spec 7.1). */
const keepLogs = Effect.fn("keepLogs")(function*(root: string) {
  const log = yield* ObservationLog
  const reader = yield* ConfigReader
  const { sessionId } = yield* SessionScope
  // A file that cannot be read just now says nothing about who coordinates.
  const coordinates = reader.read(root).pipe(
    Effect.map(Option.match({ onNone: () => false, onSome: (team) => coordinatorOf(team).sessionId === sessionId })),
    Effect.orElseSucceed(() => true)
  )
  yield* Effect.repeat(Effect.zipRight(log.prune(root), coordinates), {
    schedule: Schedule.spaced("1 minute"),
    while: (still) => still
  })
})

/** What the team's folder needs of its coordinator, at each of its starts (spec 1.3, 1.4, 7.1). */
export const keepHouse = Effect.fn("keepHouse")(function*(root: string) {
  const store = yield* ConfigStore
  yield* (yield* SessionScope).fork(keepLogs(root))
  yield* store.ensureGitignore(root)
  yield* store.sweep(root)
})

/** Takes up the work of the coordinator that the file names: this session (spec 3.2). */
export const coordinate = Effect.fn("coordinate")(function*(standing: Member) {
  const { guard, sessionId } = yield* SessionScope
  const port = yield* ownPort
  const config = yield* (yield* ConfigStore).update(standing.root, sessionId, guard, present(sessionId, port))
  yield* (yield* CloseJobs).settleAll(standing.root)
  yield* keepHouse(standing.root)
  if (hasWorkers(config)) yield* ensureMonitor(standing.root)
})
