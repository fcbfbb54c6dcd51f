import * as Effect from "effect/Effect"
import { fences, isPending } from "../../domain/CloseTable.ts"
import type { Finding } from "../../domain/Finding.ts"
import { jobOf, type Ledger } from "../../domain/Ledger.ts"
import type { Probe } from "../../domain/Probe.ts"
import type { Snapshot } from "../../domain/Snapshot.ts"
import { type Agent, agentBySession, type TeamConfig } from "../../domain/TeamConfig.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { goneForGood, openWith } from "../Reopen.ts"

/** What the team's own records and endpoints say, as findings. */

const maxNamed = 5

const listed = (names: ReadonlyArray<string>): string =>
  names.length > maxNamed
    ? `${names.slice(0, maxNamed).join(", ")} and ${names.length - maxNamed} more`
    : names.join(", ")

const holder = (agent: Agent, probe: Probe): Pick<Finding, "code" | "what"> | undefined => {
  const port = `The saved port ${agent.port} of ${agent.name}`
  switch (probe.reason) {
    case "identity_mismatch":
      return { code: "port_taken", what: `${port} is held by another Intercom session, so no message is sent there.` }
    case "unproven":
      return {
        code: "port_unproven",
        what: `${port} is held by something that has its name and cannot prove it, so no message is sent there.`
      }
    case "timeout":
      return { code: "port_silent", what: `${port} is held by something that does not answer.` }
    case "legacy":
    case "unsupported_version":
      return {
        code: "port_taken",
        what: `${port} is held by something that answers as another version of Intercom would, without proof, ` +
          "so no message is sent there."
      }
    case "http_error":
    case "malformed":
    case "oversize":
    case "network_error":
      return {
        code: "port_taken",
        what: `${port} is held by something that does not answer as ${agent.name}'s session would, ` +
          "so no message is sent there."
      }
    default:
      return undefined
  }
}

/** A saved port that somebody else holds. `lenient`: sessions that prove nothing belong to this team. */
export const ofPort = (agent: Agent, probe: Probe, lenient: boolean): ReadonlyArray<Finding> => {
  const found = lenient && (probe.reason === "unproven" || probe.reason === "legacy") ? undefined : holder(agent, probe)
  if (found === undefined) return []
  const saves = agent.coordinator ? "and saves that" : "and the coordinator, if it is open, saves that"
  const its = `If that is ${agent.name}'s Pi`
  const first = found.code === "port_silent"
    ? `${its} and it is stopped, let it go on. Otherwise open`
    : found.code === "port_unproven"
    ? `${its}, it was started with another PI_INTERCOM_STATE_DIR or XDG_STATE_HOME than this: start it with the same. ` +
      "Otherwise open"
    : "Open"
  return [{
    ...found,
    advice: `${first} ${agent.name}'s session, or run /reload in it if it is open: it takes a free port, ${saves}. ` +
      "Nothing is lost."
  }]
}

/** Sessions that answer by name, while nothing that could prove them is in `nothingIn`, this state directory. */
export const ofElsewhere = (names: ReadonlyArray<string>, nothingIn: string): ReadonlyArray<Finding> =>
  names.length === 0 ? [] : [{
    code: "state_elsewhere",
    what:
      `What answers as ${listed(names)} cannot be judged from here: ${nothingIn}, where this looked, holds nothing ` +
      "private of this team, so their Pi keeps that elsewhere.",
    advice: "Run this with the PI_INTERCOM_STATE_DIR and XDG_STATE_HOME that their Pi was started with, or type " +
      "/intercom doctor in that Pi; sessions that differ in them cannot talk to each other."
  }]

/** Nobody coordinates, though somebody is there who would need it. `here`: the session that asks, if one does. */
export const ofAbsence = (coordinator: Agent, here: string | undefined): Finding => ({
  code: "coordinator_absent",
  what:
    `Nobody coordinates the team now: nothing listens on port ${coordinator.port}, which its coordinator had last, ` +
    "so reports are not delivered and no work is given.",
  advice: here === coordinator.sessionId
    ? "This is the coordinator's session: run /reload in it, and if Intercom is inactive then, it says why."
    : `Open the coordinator's session with ${
      openWith(coordinator.sessionId)
    }, or run /reload in it if it is open. ${goneForGood}run /intercom takeover in the session that is to coordinate.`
})

/** The close of a worker, if nobody brings it to its end. `coordinated`: the coordinator proves itself just now. */
export const ofClose = Effect.fn("Doctor.ofClose")(
  function*({ closeJob: job, name }: Agent, ledger: Ledger | undefined, coordinated: boolean, now: number) {
    if (job === undefined) return []
    const restart = "Open the coordinator's session, or run /reload in it: it settles that at its start."
    if (isPending(job.state)) {
      if (coordinated && fences(job, now)) return []
      const orphaned: Finding = {
        code: "close_orphaned",
        what:
          `The close of ${name} (job ${job.jobId}) is ${job.state} since ${job.updatedAt} and nobody goes on with it.`,
        advice: restart
      }
      return [orphaned]
    }
    if (job.state !== "uncertain") return []
    const process = ledger && jobOf(ledger, job.jobId)
    const gone = process !== undefined && (yield* (yield* ProcessIdentity).look(process)) === "gone"
    const uncertain: Finding = {
      code: "close_uncertain",
      what: `Whether ${name} was closed is uncertain since ${job.updatedAt} (job ${job.jobId}), so it gets no work.`,
      advice: gone
        ? `Its process is proven gone. ${restart}`
        : `Run /intercom resolve ${name} in the coordinator's session: it asks you what you see.`
    }
    return [uncertain]
  }
)

/** The resumes of which it is not known what became. */
export const ofResumes = (config: TeamConfig, ledger: Ledger | undefined): ReadonlyArray<Finding> =>
  Object.entries(ledger?.attempts ?? {}).map(([id, { at }]) => {
    const name = agentBySession(config, id)?.name ?? id
    return {
      code: "resume_open",
      what: `A resume of ${name} was submitted at ${at} and it has not reported since, so it is not resumed again.`,
      advice: "Look at its tab: Pi may be asking something there. If that Pi is closed, run /intercom resolve " +
        `${name} in the coordinator's session.`
    }
  })

/** Two looks at a clock are this far apart. */
const toleranceMs = 2000

/** What was written down with a time that has not come yet: this machine's clock was or is wrong. */
export const ofClock = (config: TeamConfig, { workers }: Snapshot, now: number): ReadonlyArray<Finding> => {
  const isFuture = (time: string | undefined) => time !== undefined && Date.parse(time) > now + toleranceMs
  const finding = (what: string, names: ReadonlyArray<string>, advice: string): ReadonlyArray<Finding> =>
    names.length === 0 ? [] : [{
      code: "clock_future",
      what: `The time of ${what} of ${
        listed(names)
      } has not come yet by this machine's clock, so its age is not known.`,
      advice: `If this machine's clock is wrong, set it right. Otherwise ${advice}`
    }]
  const namesOf = (wanted: (worker: Snapshot["workers"][number]) => boolean) =>
    workers.filter(wanted).map(({ agent }) => agent.name)
  return [
    ...finding(
      "the newest record",
      namesOf(({ seen }) => isFuture(seen.observedAt)),
      "remove the files in .pi-intercom/logs and run /reload in the sessions that are open."
    ),
    ...finding("the report", namesOf(({ report }) => isFuture(report?.updatedAt)), "let it report its work again."),
    ...finding(
      "the handoff or close",
      config.agents.filter(({ closeJob, handoff }) => isFuture(closeJob?.updatedAt) || isFuture(handoff?.updatedAt))
        .map(({ name }) => name),
      "correct updatedAt in .pi-intercom/config.json while no session of this team runs."
    )
  ]
}
