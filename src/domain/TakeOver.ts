import type * as Either from "effect/Either"
import type { ConfigRefused } from "./ConfigErrors.ts"
import type { Port, SessionId } from "./Primitives.ts"
import type { Probe } from "./Probe.ts"
import { proposeConfig, type TeamConfig } from "./TeamConfig.ts"

/**
 * The config in which a session coordinates in the recorded coordinator's place (spec 4): the coordinator's entry gets
 * its id and port and loses the legacy `dashboardPort`; its worker entry, if any, goes. All else stays as it is.
 */
export const takeOver = (
  config: TeamConfig,
  by: { readonly sessionId: SessionId; readonly port: Port }
): Either.Either<TeamConfig, ConfigRefused> => {
  const agents = config.agents.flatMap((agent) => {
    if (!agent.coordinator) return agent.sessionId === by.sessionId ? [] : [agent]
    const { dashboardPort: _, ...kept } = agent
    return [{ ...kept, ...by }]
  })
  return proposeConfig(config, { agents })
}

/** What a person is told of the recorded coordinator's port before they decide; anything but a proof may be asked about. */
export const observed = ({ reason, state }: Probe, port: Port): string => {
  switch (reason) {
    case "verified":
      return `it answers on port ${port} and proved to be that session`
    case "unproven":
      return `something on port ${port} answers with its name, without proof; it may still be that session`
    case "refused":
      return `nothing listens on its port ${port}`
    case "identity_mismatch":
      return `another session answers on its port ${port}`
    case "timeout":
      return `nothing answered on its port ${port} in time; it may be there and hang`
    case "legacy":
      return `something on port ${port} answers like an older Intercom, without proof; it may still be that session`
    default:
      return `whether it is there could not be told from its port ${port} (${state}: ${reason})`
  }
}
