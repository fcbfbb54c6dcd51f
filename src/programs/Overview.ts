import * as Effect from "effect/Effect"
import { isFinal } from "../domain/CloseTable.ts"
import { plainLine } from "../domain/Delivery.ts"
import type { Probe } from "../domain/Probe.ts"
import { type Agent, agentBySession } from "../domain/TeamConfig.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { openAttempts } from "./Attempts.ts"
import type { Member } from "./Membership.ts"
import { type Newcomer, Newcomers } from "./Newcomers.ts"
import { outside } from "./Outside.ts"
import { reopen } from "./Reopen.ts"

/** Where somebody works, as a person reads it; nothing for the team's own folder, which the first line names. */
const folder = (projectDirectory: string): string => projectDirectory === "." ? "" : ` (${projectDirectory})`

const row = (agent: Agent, connection: string): string =>
  `  ${agent.name}${folder(agent.projectDirectory)}: ${connection}` +
  (agent.closeJob === undefined
    ? ""
    : `, ${isFinal(agent.closeJob.state) ? "last close:" : "close"} ${agent.closeJob.state}`)

const words = (probe: Probe | undefined): string =>
  probe === undefined ? "not checked" : `${probe.state} (${probe.reason})`

/** Sessions that registered and have no name yet; one whose port nobody or somebody else has is closed, and not told of. */
const unconfigured = (newcomers: ReadonlyArray<Newcomer>, probes: ReadonlyArray<Probe>): ReadonlyArray<string> =>
  newcomers.flatMap(({ port, projectDirectory, sessionId }, at) => {
    const probe = probes[at]
    return probe?.reason === "refused" || probe?.reason === "identity_mismatch"
      ? []
      : [
        `  ${plainLine(`unconfigured session ${sessionId}${folder(projectDirectory)}`)}, port ${port}: ${words(probe)}`
      ]
  })

/** What only a person can settle, or see for themselves; the coordinator's, who records it. */
const attentionOf = Effect.fn("Overview.attention")(function*({ config, role, root }: Member) {
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

/** What a session that is no worker yet waits for. */
const waitsFor = ({ role }: Member, sessionId: string): ReadonlyArray<string> => {
  if (role === "unloaded") return ["This session is configured but not loaded; the coordinator must reload it."]
  return role === "anonymous"
    ? [
      `This session (${sessionId}) is not configured yet: ask the coordinator's agent to give it a name and a ` +
      "responsibility. If that agent has not heard of it, /reload here tells it again."
    ]
    : []
}

/** The team as `/intercom` shows it: who is in it and answers, who waits to be, and what needs the person. */
export const overview = Effect.fn("overview")(function*(standing: Member, port: number) {
  const { config, coordinator, role, root, self } = standing
  const { sessionId } = yield* SessionScope
  const others = config.agents.filter((agent) => agent !== self)
  const coordinates = role === "coordinator"
  const newcomers = coordinates ? yield* (yield* Newcomers).unconfigured(config) : []
  const { probeAll } = yield* IntercomClient
  const [probes, seen] = yield* Effect.all([probeAll(root, others), probeAll(root, newcomers)], { concurrency: 2 })
  const rows = config.agents.map((agent) =>
    row(agent, agent === self ? `this session (${sessionId}), port ${port}` : words(probes[others.indexOf(agent)]))
  )
  const waiting = unconfigured(newcomers, seen)
  const attention = yield* attentionOf(standing).pipe(
    Effect.catchTag("StateUnusable", (unusable) => Effect.succeed([`Needs attention: ${unusable.message}`]))
  )
  return [
    `Intercom: ${role} on port ${port}, team of ${root}, multiplexer ${config.multiplexer}`,
    ...rows,
    ...waiting,
    ...waitsFor(standing, sessionId),
    ...(!coordinates && probes[others.indexOf(coordinator)]?.state === "disconnected"
      ? [reopen(coordinator.sessionId)]
      : []),
    ...attention,
    ...(waiting.length === 0 ? [] : [
      "Needs attention: an unconfigured session gets no work. Ask your agent to configure it: say which session, its " +
      "name and what it is responsible for. If you do not want it, quit its Pi."
    ]),
    ...(coordinates ? (yield* outside(config.multiplexer)).map((sentence) => `Needs attention: ${sentence}`) : [])
  ].join("\n")
})
