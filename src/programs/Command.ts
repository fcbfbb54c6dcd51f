import * as Effect from "effect/Effect"
import type { Probe } from "../domain/Probe.ts"
import { Refused } from "../domain/SessionErrors.ts"
import { type Agent, agentBySession } from "../domain/TeamConfig.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import { openAttempts } from "./Attempts.ts"
import type { Member } from "./Membership.ts"
import { ownPort } from "./Post.ts"
import { reopen } from "./Reopen.ts"
import { resolve } from "./Resolve.ts"
import { takeover } from "./Takeover.ts"
import { enterTeam, publishTeam } from "./Team.ts"

const usage =
  "Use /intercom to see the team, /intercom start to publish a team file here, /intercom resolve <worker> to " +
  "settle what it says needs attention, /intercom takeover to coordinate a team whose coordinator is gone, or " +
  "/intercom doctor to see what is wrong."

const row = (agent: Agent, connection: string): string =>
  `  ${agent.name}${agent.coordinator ? "" : ` (${agent.projectDirectory})`}: ${connection}` +
  (agent.closeJob === undefined ? "" : `, close ${agent.closeJob.state}`)

const words = (probe: Probe | undefined): string =>
  probe === undefined ? "not checked" : `${probe.state} (${probe.reason})`

/** What only a person can settle, or see for themselves; the coordinator's, who records it. */
const attentionOf = Effect.fn("Command.attention")(function*({ config, role, root }: Member) {
  const uncertain = config.agents.filter((agent) => agent.closeJob?.state === "uncertain").map((agent) => agent.name)
  const open = role === "coordinator" ? yield* openAttempts(root) : []
  const resumed = open.map((id) => agentBySession(config, id)?.name ?? id)
  return [
    ...(uncertain.length > 0 ?
      [
        `Needs attention: the close of ${uncertain.join(", ")} is uncertain. ` +
        "Look at its tab: once you know whether that Pi still runs, run /intercom resolve with that name."
      ] :
      []),
    ...(resumed.length > 0
      ? [
        `Needs attention: the resume of ${
          resumed.join(", ")
        } is open. Look at its tab: Pi may be asking you something. ` +
        "If that Pi is closed, run /intercom resolve with that name."
      ]
      : [])
  ]
})

const overview = Effect.fn("Command.overview")(function*(standing: Member, port: number) {
  const { config, root, self } = standing
  const others = config.agents.filter((agent) => agent !== self)
  const probes = yield* (yield* IntercomClient).probeAll(root, others)
  const rows = config.agents.map((agent) =>
    row(agent, agent === self ? `this session, port ${port}` : words(probes[others.indexOf(agent)]))
  )
  const attention = yield* attentionOf(standing).pipe(
    Effect.catchTag("StateUnusable", (unusable) => Effect.succeed([`Needs attention: ${unusable.message}`]))
  )
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
    ...attention
  ].join("\n")
})

/** `/intercom …` for the person at the keyboard (spec 4): answers the text to show. */
export const command = Effect.fn("command")(function*(args: string) {
  const standing = yield* enterTeam
  const port = yield* ownPort
  const [, unsettled] = /^resolve\s+(.+)$/s.exec(args.trim()) ?? []
  if (unsettled !== undefined) return yield* resolve(standing, unsettled)
  switch (args.trim()) {
    case "":
      return standing.role === "solo"
        ? `Intercom: no team here yet (port ${port}, root ${standing.root}). Nothing is written until you start one.\n${usage}`
        : yield* overview(standing, port)
    case "start": {
      if (standing.role !== "solo") {
        return `This folder belongs to the team of ${standing.root} already, so nothing was started. For a team of its ` +
          `own, start Pi with PI_INTERCOM_ROOT set to it.\n${yield* overview(standing, port)}`
      }
      const { config, root } = yield* publishTeam(standing)
      return `Intercom: this session now coordinates the team of ${root}, multiplexer ${config.multiplexer}. ` +
        "Pi saves a session with its first turn: give this one a turn before you close it, or it cannot be opened again."
    }
    case "takeover":
      return yield* takeover(standing)
    default:
      return yield* new Refused({ reason: "invalid", sentence: `Nothing was done. ${usage}` })
  }
})
