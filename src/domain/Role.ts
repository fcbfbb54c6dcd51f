import type { Agent, TeamConfig } from "./TeamConfig.ts"
import { agentBySession } from "./TeamConfig.ts"

/**
 * What a session is in its team, decided afresh at each entry:
 * - `solo`: coordinator in memory, no team file yet (spec 1.2)
 * - `coordinator`: the file's coordinator
 * - `worker`: has an entry, its responsibility is loaded
 * - `unloaded`: has an entry that it has not loaded yet (spec 3.3)
 * - `anonymous`: not in the file
 */
export type Role = "solo" | "coordinator" | "worker" | "unloaded" | "anonymous"

/** The role of a session by a fresh config and whether it has loaded its responsibility. */
export const roleOf = (
  config: TeamConfig,
  sessionId: string,
  loaded: boolean
): { role: Role; self: Agent | undefined } => {
  const self = agentBySession(config, sessionId)
  if (self === undefined) return { role: "anonymous", self }
  if (self.coordinator) return { role: "coordinator", self }
  return { role: loaded ? "worker" : "unloaded", self }
}
