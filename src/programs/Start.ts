import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { AllowUnauthenticated } from "../domain/Environment.ts"
import { HostSession } from "../services/HostSession.ts"
import { IntercomServer } from "../services/IntercomServer.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { Secrets } from "../services/Secrets.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { announce } from "./Announce.ts"
import { coordinate } from "./Coordinate.ts"
import { Membership } from "./Membership.ts"
import { receive } from "./receive/Receive.ts"
import { load } from "./Responsibility.ts"

/**
 * Starts the session's part in its team (spec 3.2): discover and read, lock, listen, take the role, load what the entry
 * says, announce. Begins no model turn. Whatever fails here leaves the session inactive, with the sentence that says why.
 */
export const start = Effect.gen(function*() {
  const membership = yield* Membership
  const { fork, guard, isOpen, sessionId } = yield* SessionScope
  const log = yield* ObservationLog
  const secrets = yield* Secrets
  const host = yield* HostSession
  const allowUnauthenticated = yield* Effect.orDie(AllowUnauthenticated)

  yield* log.record({ event: "runtime.starting" })
  const { standing: found } = yield* membership.enter
  if (found.role !== "solo") {
    yield* log.open(found.root)
    yield* secrets.key(found.root)
  }
  const saved = found.role === "solo" ? undefined : found.self?.port

  const key = membership.team.pipe(
    Effect.flatMap(Effect.transposeMapOption(secrets.key)),
    Effect.orElseSucceed(Option.none)
  )
  const context = yield* Effect.context<Effect.Effect.Context<ReturnType<typeof receive>>>()
  const port = yield* (yield* IntercomServer).listen(Option.fromNullable(saved), {
    sessionId,
    open: Effect.isSuccess(guard).pipe(Effect.map((open) => open && isOpen())),
    key,
    allowUnauthenticated,
    receive: (envelope, signed, commit) => receive(envelope, signed, commit).pipe(Effect.provide(context))
  })
  yield* Ref.set(membership.port, Option.some(port))

  if (found.role === "coordinator") yield* coordinate(found)
  if (found.role !== "solo" && found.self !== undefined) yield* load(found.self)
  const { standing } = yield* membership.enter
  yield* log.record({ event: "runtime.ready", role: standing.role, port })
  if (allowUnauthenticated) {
    yield* host.notify(
      "Intercom takes unsigned messages from any program of this machine (PI_INTERCOM_ALLOW_UNAUTHENTICATED=1).",
      "warning"
    )
  }
  if (standing.role !== "solo") yield* fork(announce(standing))
  return standing
}).pipe(Effect.withSpan("start"))
