import * as Effect from "effect/Effect"
import { lockOf } from "../domain/ConfigErrors.ts"
import { Refused } from "../domain/SessionErrors.ts"
import { observed, takeOver } from "../domain/TakeOver.ts"
import { type Agent, hasWorkers } from "../domain/TeamConfig.ts"
import { ConfigStore } from "../services/ConfigStore.ts"
import { HostSession } from "../services/HostSession.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { OwnedLock } from "../services/OwnedLock.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { CloseJobs } from "./close/CloseJobs.ts"
import { keepHouse } from "./Coordinate.ts"
import { type Member, Membership, type Standing } from "./Membership.ts"
import { ensureMonitor } from "./MonitorPane.ts"
import { ownPort } from "./Post.ts"
import { load } from "./Responsibility.ts"
import { enterTeam } from "./Team.ts"

const noTeam = new Refused({
  reason: "no_team",
  sentence: "There is no team here to take over, so nothing was done. Run /intercom start to begin one."
})
const already = new Refused({
  reason: "not_worker",
  sentence: "This session coordinates the team already, so nothing was done."
})
const elsewhere = new Refused({
  reason: "not_coordinator",
  sentence: "Another session became the team's coordinator meanwhile, so nothing was done. /intercom shows which."
})
const lives = (coordinator: Agent) =>
  new Refused({
    reason: "not_coordinator",
    sentence:
      `The coordinator's session ${coordinator.sessionId} is there: it answers on port ${coordinator.port} and ` +
      "proved to be that session, so nothing was done. Quit that session first if another one has to coordinate."
  })

/** What is seen of the recorded coordinator; refused when it proves itself (spec 4). */
const lookAt = Effect.fn("Takeover.lookAt")(function*(root: string, coordinator: Agent) {
  const seen = yield* (yield* IntercomClient).probe(root, coordinator)
  if (seen.reason === "verified") return yield* lives(coordinator)
  return observed(seen, coordinator.port)
})

const answers = { no: "No, change nothing", yes: "Yes, take over: this session coordinates from now on" }

const question = (standing: Member, seen: string): string =>
  `Session ${standing.coordinator.sessionId} coordinates the team of ${standing.root}: ${seen}. ` +
  "If you say yes, this session coordinates in its place; workers keep their entries and report here. " +
  "That session, if it comes back, is an unconfigured worker." +
  (standing.self === undefined ? "" : ` This session's own worker entry, ${standing.self.name}, is removed.`)

/** The one update, while no process can be on the coordinator's session: its lock is ours until the file says so. */
const replace = Effect.fn("Takeover.replace")(function*(standing: Member) {
  const { guard, sessionId } = yield* SessionScope
  const { coordinator, root } = standing
  yield* (yield* OwnedLock).session(root, coordinator.sessionId).pipe(
    Effect.mapError(lockOf("The coordinator's session"))
  )
  yield* lookAt(root, coordinator)
  const port = yield* ownPort
  yield* (yield* ConfigStore).update(
    root,
    coordinator.sessionId,
    guard,
    (config) => takeOver(config, { sessionId, port })
  )
}, Effect.scoped)

/**
 * `/intercom takeover`: makes this session the coordinator of its team, after asking; only while the recorded
 * coordinator does not prove itself and no living process has its session (spec 4). Answers the text to show.
 */
export const takeover = Effect.fn("takeover")(function*(standing: Standing) {
  if (standing.role === "solo") return yield* noTeam
  if (standing.role === "coordinator") return yield* already
  const host = yield* HostSession
  const seen = yield* lookAt(standing.root, standing.coordinator)
  if (!(yield* host.confirm("Take over the team?", question(standing, seen), answers))) {
    return "Not taken over: nothing was changed."
  }
  // The answer may have taken its time: what it was given about must still be so.
  const now = yield* enterTeam
  if (now.role === "solo") return yield* noTeam
  if (now.coordinator.sessionId !== standing.coordinator.sessionId) return yield* elsewhere
  yield* replace(now)
  const { standing: after } = yield* (yield* Membership).enter
  if (after.role !== "coordinator" || after.self === undefined) return yield* elsewhere
  yield* load(after.self)
  yield* (yield* CloseJobs).settleAll(after.root)
  yield* keepHouse(after.root)
  if (hasWorkers(after.config)) yield* ensureMonitor(after.root)
  yield* (yield* ObservationLog).record({ event: "config.changed" })
  return `Intercom: this session now coordinates the team of ${after.root}, in place of session ` +
    `${now.coordinator.sessionId}. Its workers report here.` +
    (now.self === undefined ? "" : " Its name in Pi and its tab's title stay as they are.") +
    // Every coordinator's entry says the team's folder (spec 1.1), and elsewhere Pi would only fork the session.
    (host.directory === after.root
      ? ""
      : ` The team file does not say where it works: to open it another day, run pi --session ${after.self.sessionId} in ${host.directory}.`)
})
