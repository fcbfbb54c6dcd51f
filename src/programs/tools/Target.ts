import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { fenceRefusal, toolRules } from "../../domain/Permissions.ts"
import { target, unfenced } from "../../domain/Roster.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import type { Agent } from "../../domain/TeamConfig.ts"
import type { ToolName } from "../../domain/ToolCatalogue.ts"
import { CloseJobs } from "../close/CloseJobs.ts"
import { type Member, Membership } from "../Membership.ts"

/**
 * The entry of a worker after what can be settled of its close job was (spec 6.1, 6.2): refused while this session runs
 * the job, or it could not be settled.
 */
export const meetFence = Effect.fn("meetFence")(function*(standing: Member, worker: Agent) {
  const jobs = yield* CloseJobs
  const met = yield* jobs.meet(standing.root, worker)
  if (jobs.isHeld(worker.sessionId)) return yield* fenceRefusal({ name: worker.name, self: false })
  return met
})

/** The member a tool is aimed at, by name; refused under the close fence where the tool's rule says so (spec 4). */
export const findTarget = Effect.fn("findTarget")(function*(
  tool: ToolName,
  standing: Member,
  name: string,
  want: "worker" | "member"
) {
  const { sessionId } = yield* Membership
  const found = target(standing.config, name, sessionId, want)
  if (found instanceof Refused) return yield* found
  if (!toolRules[tool].fenced) return found
  const met = standing.role === "coordinator" ? yield* meetFence(standing, found) : found
  const fenced = unfenced(met, yield* Clock.currentTimeMillis, false)
  if (fenced !== undefined) return yield* fenced
  return met
})
