import { fences } from "./CloseTable.ts"
import { fenceRefusal } from "./Permissions.ts"
import { Refused } from "./SessionErrors.ts"
import type { Agent, TeamConfig } from "./TeamConfig.ts"
import { agentByName } from "./TeamConfig.ts"

/** An entry as `intercom_list` shows it: everything but `dashboardPort` and the handoff's text (spec 4). */
export const listed = (agent: Agent): Readonly<Record<string, unknown>> => {
  const { dashboardPort: _, handoff, ...rest } = agent
  return handoff === undefined
    ? rest
    : { ...rest, handoff: { jobId: handoff.jobId, updatedAt: handoff.updatedAt } }
}

/** The team file's entries as `intercom_list` shows them. */
export const listing = (config: TeamConfig): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  config.agents.map(listed)

/** The target of a tool: a known name that is not the caller; `worker` also refuses the coordinator. */
export const target = (
  config: TeamConfig,
  name: string,
  caller: string,
  want: "worker" | "member"
): Agent | Refused => {
  const agent = agentByName(config, name)
  if (agent === undefined) {
    return new Refused({
      reason: "unknown_name",
      sentence: `Nobody in the team is called ${
        JSON.stringify(name)
      }, so nothing was done. intercom_list gives the names.`
    })
  }
  if (want === "worker" && agent.coordinator) {
    return new Refused({
      reason: "target_is_coordinator",
      sentence: "This is for workers and the target is the coordinator; nothing was done."
    })
  }
  if (agent.sessionId === caller) {
    return new Refused({ reason: "target_is_self", sentence: "The target is this very session; nothing was done." })
  }
  return agent
}

/** Refuses while the target is fenced at `now`. */
export const unfenced = (agent: Agent, now: number, self: boolean): Refused | undefined =>
  fences(agent.closeJob, now) ? fenceRefusal({ name: agent.name, self }) : undefined
