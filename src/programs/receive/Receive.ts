import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Match from "effect/Match"
import { fences } from "../../domain/CloseTable.ts"
import type { Envelope } from "../../domain/Envelope.ts"
import { mayReceive } from "../../domain/Permissions.ts"
import { agentBySession } from "../../domain/TeamConfig.ts"
import type { Commit, Refusal } from "../../services/IntercomServer.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { CloseJobs } from "../close/CloseJobs.ts"
import { OwnClose } from "../close/OwnClose.ts"
import type { Member } from "../Membership.ts"
import { enterTeam } from "../Team.ts"
import { refuse, refused } from "./Context.ts"
import { message } from "./Message.ts"
import { registration } from "./Registration.ts"
import { report } from "./Report.ts"
import { status } from "./Status.ts"
import { reload, requestStatus } from "./Worker.ts"

const dispatch = (standing: Member, signed: boolean, commit: Commit) =>
  Match.type<Envelope>().pipe(
    Match.discriminatorsExhaustive("kind")({
      message: (envelope) => message(standing, envelope, commit),
      report: (envelope) => report(standing, envelope, commit),
      registration: (envelope) => registration(standing, envelope, commit),
      status: (envelope) => status(standing, envelope, signed, commit),
      request_status: () => requestStatus(standing, commit),
      reload: () => reload(standing, commit),
      stop: () => refuse("this version of Intercom cannot stop a run yet; nothing was done"),
      close: () => refuse("a session is only closed by the close workflow; nothing was done"),
      close_prepare: (envelope) => Effect.flatMap(OwnClose, (own) => own.prepare(standing, envelope, commit)),
      close_identity: (envelope) => Effect.flatMap(CloseJobs, (jobs) => jobs.receive(envelope, commit)),
      close_request: (envelope) => Effect.flatMap(OwnClose, (own) => own.request(standing, envelope, commit)),
      handoff_report: (envelope) => Effect.flatMap(CloseJobs, (jobs) => jobs.receive(envelope, commit)),
      close_ready: (envelope) => Effect.flatMap(CloseJobs, (jobs) => jobs.receive(envelope, commit)),
      close_commit: (envelope) => Effect.flatMap(OwnClose, (own) => own.commit(standing, envelope, commit))
    })
  )

const unready = (error: Effect.Effect.Error<typeof enterTeam>): Refusal => {
  const sentence = (): string => {
    switch (error._tag) {
      case "SessionReplaced":
        return "this session is closing"
      case "LockNotTaken":
        return "another process has this session open or changes the team file, so nothing was done"
      default:
        return "this session cannot use its team file now, so nothing was done"
    }
  }
  return { status: 503, sentence: sentence() }
}

/** Decides about an envelope that was authenticated, or may be unsigned: the role on a fresh config, then the effect of its kind (spec 2.3). */
export const receive = Effect.fn("receive")(function*(
  envelope: Envelope,
  signed: boolean,
  commit: Commit
) {
  const log = yield* ObservationLog
  const seen = { kind: envelope.kind, peerSessionId: envelope.from }
  yield* log.record({ event: "transport.received", ...seen })
  yield* Effect.gen(function*() {
    const standing = yield* Effect.mapError(enterTeam, unready)
    if (standing.role === "solo") return yield* refuse("this session has no team")
    const now = yield* Clock.currentTimeMillis
    const sender = agentBySession(standing.config, envelope.from)
    const { isHeld } = yield* CloseJobs
    const no = mayReceive(
      envelope.kind,
      { role: standing.role, fenced: fences(standing.self?.closeJob, now) },
      sender && { coordinator: sender.coordinator, fenced: isHeld(sender.sessionId) || fences(sender.closeJob, now) }
    )
    if (no !== undefined) return yield* Effect.fail(refused(no))
    yield* dispatch(standing, signed, commit)(envelope)
  }).pipe(Effect.tapError((no) => log.record({ event: "transport.rejected", outcome: String(no.status), ...seen })))
})
