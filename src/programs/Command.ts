import * as Effect from "effect/Effect"
import type { Probe } from "../domain/Probe.ts"
import { Refused } from "../domain/SessionErrors.ts"
import type { Agent } from "../domain/TeamConfig.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import type { Member } from "./Membership.ts"
import { ownPort } from "./Post.ts"
import { reopen } from "./Reopen.ts"
import { takeover } from "./Takeover.ts"
import { enterTeam, publishTeam } from "./Team.ts"

const usage = "Use /intercom to see the team, /intercom start to publish a team file here, or /intercom takeover to " +
  "coordinate a team whose coordinator is gone."

const row = (agent: Agent, connection: string): string =>
  `  ${agent.name}${agent.coordinator ? "" : ` (${agent.projectDirectory})`}: ${connection}` +
  (agent.closeJob === undefined ? "" : `, close ${agent.closeJob.state}`)

const words = (probe: Probe | undefined): string =>
  probe === undefined ? "not checked" : `${probe.state} (${probe.reason})`

const overview = Effect.fn("Command.overview")(function*(standing: Member, port: number) {
  const { config, root, self } = standing
  const others = config.agents.filter((agent) => agent !== self)
  const probes = yield* (yield* IntercomClient).probeAll(root, others)
  const rows = config.agents.map((agent) =>
    row(agent, agent === self ? `this session, port ${port}` : words(probes[others.indexOf(agent)]))
  )
  const attention = config.agents.filter((agent) => agent.closeJob?.state === "uncertain").map((agent) => agent.name)
  return [
    `Intercom: ${standing.role} on port ${port}, team of ${root}, multiplexer ${config.multiplexer}`,
    ...rows,
    ...(standing.role === "anonymous" ? ["This session is not configured; the coordinator decides about it."] : []),
    ...(standing.role === "unloaded"
      ? ["This session is configured but not loaded; the coordinator must reload it."]
      : []),
    ...(standing.role !== "coordinator" && probes[others.indexOf(standing.coordinator)]?.state === "disconnected"
      ? [reopen(standing.coordinator.sessionId)]
      : []),
    ...(attention.length > 0 ? [`Needs attention: the close of ${attention.join(", ")} is uncertain.`] : [])
  ].join("\n")
})

const herdrLater = (sessionId: string): string =>
  "Workers open in tmux only, so far: start tmux, open this session in it with " +
  `pi --session ${sessionId}, and ask your agent to set the multiplexer to tmux.`

/** `/intercom …` for the person at the keyboard (spec 4): answers the text to show. */
export const command = Effect.fn("command")(function*(args: string) {
  const standing = yield* enterTeam
  const port = yield* ownPort
  switch (args.trim()) {
    case "":
      return standing.role === "solo"
        ? `Intercom: no team here yet (port ${port}, root ${standing.root}). Nothing is written until you start one.\n${usage}`
        : yield* overview(standing, port)
    case "start": {
      if (standing.role !== "solo") {
        return `There is a team here already, so nothing was started.\n${yield* overview(standing, port)}`
      }
      const team = yield* publishTeam(standing)
      const { multiplexer } = team.config
      const published = `Intercom: this session now coordinates the team of ${team.root}, multiplexer ${multiplexer}.`
      return multiplexer === "tmux" ? published : `${published}\n${herdrLater(team.coordinator.sessionId)}`
    }
    case "takeover":
      return yield* takeover(standing)
    case "resolve":
      return yield* new Refused({
        reason: "not_supported",
        sentence: "/intercom resolve is not in this version yet; nothing was done."
      })
    default:
      return yield* new Refused({ reason: "invalid", sentence: `Nothing was done. ${usage}` })
  }
})
