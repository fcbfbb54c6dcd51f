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

/** What a session has loaded of its entry. */
export interface LoadedEntry {
  readonly name: string
  readonly responsibility: string
}

/**
 * The role of a session by a fresh config. A worker whose entry now says another name or responsibility than it has
 * loaded is unloaded until it is reloaded (spec 3.3).
 */
export const roleOf = (
  config: TeamConfig,
  sessionId: string,
  loaded: LoadedEntry | undefined
): { role: Exclude<Role, "solo">; self: Agent | undefined } => {
  const self = agentBySession(config, sessionId)
  if (self === undefined) return { role: "anonymous", self }
  if (self.coordinator) return { role: "coordinator", self }
  const same = loaded?.name === self.name && loaded.responsibility === self.description
  return { role: same ? "worker" : "unloaded", self }
}
