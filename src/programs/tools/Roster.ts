import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { fences } from "../../domain/CloseTable.ts"
import type { ConfigRefused } from "../../domain/ConfigErrors.ts"
import { fenceRefusal } from "../../domain/Permissions.ts"
import { listing, target, unfenced } from "../../domain/Roster.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import { type Agent, agentBySession, proposeConfig, type TeamConfig } from "../../domain/TeamConfig.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result, resultWithList } from "../../domain/ToolResult.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { CloseJobs } from "../close/CloseJobs.ts"
import type { Member, Standing } from "../Membership.ts"
import { ensureMonitor } from "../MonitorPane.ts"
import { publishTeam } from "../Team.ts"
import { findTarget, meetFence } from "./Target.ts"

const changed = ObservationLog.pipe(Effect.flatMap((log) => log.record({ event: "config.changed" })))

/** The saved roster; probes nothing (spec 4). */
export const list = (standing: Member) =>
  Effect.succeed(resultWithList(
    { version: 1, multiplexer: standing.config.multiplexer },
    "agents",
    listing(standing.config)
  ))

/** Writes an entry; the worker loads it when it is reloaded (spec 3.3). The fence holds against a queued write too. */
export const configureWorker = Effect.fn("intercom_configure_worker")(
  function*(standing: Member, args: ToolArguments<"intercom_configure_worker">) {
    const { guard, sessionId } = yield* SessionScope
    const known = agentBySession(standing.config, args.sessionId)
    if (known !== undefined) yield* meetFence(standing, known)
    const { isHeld } = yield* CloseJobs
    const now = yield* Clock.currentTimeMillis
    const allow = (replaced: Agent | undefined) =>
      replaced !== undefined && (isHeld(replaced.sessionId) || fences(replaced.closeJob, now))
        ? Either.left(fenceRefusal({ name: replaced.name, self: false }))
        : Either.right(undefined)
    const { agent, first } = yield* (yield* ConfigStore).configure(standing.root, sessionId, guard, args, allow)
    yield* changed
    if (first) yield* ensureMonitor(standing.root)
    return result({ written: true, reloaded: false, name: agent.name, projectDirectory: agent.projectDirectory })
  }
)

/** Removes an entry and nothing else. */
export const removeWorker = Effect.fn("intercom_remove_worker")(
  function*(standing: Member, args: ToolArguments<"intercom_remove_worker">) {
    const { guard, sessionId } = yield* SessionScope
    yield* findTarget("intercom_remove_worker", standing, args.to, "worker")
    const { isHeld } = yield* CloseJobs
    const now = yield* Clock.currentTimeMillis
    yield* (yield* ConfigStore).update(
      standing.root,
      sessionId,
      guard,
      (config): Either.Either<TeamConfig, Refused | ConfigRefused> => {
        const found = target(config, args.to, sessionId, "worker")
        if (found instanceof Refused) return Either.left(found)
        const fenced = isHeld(found.sessionId)
          ? fenceRefusal({ name: found.name, self: false })
          : unfenced(found, now, false)
        if (fenced !== undefined) return Either.left(fenced)
        return proposeConfig(config, { agents: config.agents.filter((agent) => agent !== found) })
      }
    )
    yield* changed
    return result({ removed: true, processStopped: false, sessionDeleted: false })
  }
)

/** Chooses the multiplexer of later launches; publishes the team if there is none yet. */
export const setMultiplexer = Effect.fn("intercom_set_multiplexer")(
  function*(standing: Standing, args: ToolArguments<"intercom_set_multiplexer">) {
    const { guard, sessionId } = yield* SessionScope
    const team = standing.role === "solo" ? yield* publishTeam(standing, args.multiplexer) : standing
    // Another call of this session may have published first, with its own choice.
    if (team.config.multiplexer !== args.multiplexer) {
      yield* (yield* ConfigStore).update(
        team.root,
        sessionId,
        guard,
        (config) => proposeConfig(config, { multiplexer: args.multiplexer })
      )
      yield* changed
    }
    return result({ multiplexer: args.multiplexer, runningWorkersMoved: false })
  }
)
