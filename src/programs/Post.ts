import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Envelope, EnvelopeOf, Kind } from "../domain/Envelope.ts"
import type { Port } from "../domain/Primitives.ts"
import type { Agent } from "../domain/TeamConfig.ts"
import { HostSession } from "../services/HostSession.ts"
import { Ids } from "../services/Ids.ts"
import { IntercomClient } from "../services/IntercomClient.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import type { Member } from "./Membership.ts"
import { Membership } from "./Membership.ts"

/** What a sender adds to the head that every envelope has. */
type Content<K extends Kind> = Pick<EnvelopeOf<K>, "kind" | "payload">

/**
 * Sends one envelope to a member of the team, once, and records how it went. The three failures stay distinct
 * (spec 2.4). `content` is any kind's kind and payload.
 */
export const post = Effect.fn("post")(function*<K extends Kind>(
  standing: Pick<Member, "root">,
  to: Pick<Agent, "sessionId" | "port">,
  make: (head: Pick<Envelope, "version" | "from" | "to" | "correlationId">) => Envelope & Content<K>
) {
  const client = yield* IntercomClient
  const log = yield* ObservationLog
  const { sessionId } = yield* Membership
  const correlationId = yield* (yield* Ids).uuid
  const envelope = make({ version: 1, from: sessionId, to: to.sessionId, correlationId })
  const seen = { kind: envelope.kind, peerSessionId: to.sessionId }
  yield* log.record({ event: "transport.send", ...seen })
  yield* client.send(standing.root, to, envelope).pipe(
    Effect.tapError((error) => log.record({ event: "transport.failed", outcome: error._tag, ...seen }))
  )
  yield* log.record({ event: "transport.receipt", ...seen })
})

/** This session's port, once it listens. */
export const ownPort = Effect.gen(function*() {
  const { port } = yield* Membership
  return yield* Ref.get(port).pipe(Effect.flatten, Effect.orDieWith(() => new Error("the listener is open by now")))
})

/** Reports this session's port and busy state to the coordinator. */
export const postStatus = Effect.fn("postStatus")(function*(standing: Member) {
  const host = yield* HostSession
  const port: Port = yield* ownPort
  const busy = !(yield* host.idle)
  yield* post(standing, standing.coordinator, (head) => ({ ...head, kind: "status", payload: { port, busy } }))
})
