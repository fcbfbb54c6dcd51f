import * as Effect from "effect/Effect"
import type { MultiplexerKind } from "../domain/Primitives.ts"
import { SessionReplaced, TeamTaken } from "../domain/SessionErrors.ts"
import { coordinatorOf, firstConfig } from "../domain/TeamConfig.ts"
import { ConfigStore } from "../services/ConfigStore.ts"
import { HostSession } from "../services/HostSession.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { ProjectDirectories } from "../services/ProjectDirectories.ts"
import { Secrets } from "../services/Secrets.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { announce } from "./Announce.ts"
import { coordinate, keepHouse } from "./Coordinate.ts"
import { type Member, Membership, type Solo } from "./Membership.ts"
import { ownPort } from "./Post.ts"
import { load } from "./Responsibility.ts"

/**
 * Enters, and does what joining a team asks for: a session that had none and found a file does as at a start in it, once
 * (spec 3.2). One that the file does not name says so and registers.
 */
export const enterTeam = Effect.gen(function*() {
  const { enter } = yield* Membership
  const { joined, standing } = yield* enter
  if (!joined || standing.role === "solo") return standing
  yield* joinAs(standing)
  return (yield* enter).standing
}).pipe(Effect.withSpan("enterTeam"))

const joinAs = Effect.fn("joinAs")(function*(standing: Member) {
  yield* (yield* ObservationLog).open(standing.root)
  if (standing.role === "coordinator") yield* coordinate(standing)
  if (standing.self !== undefined) yield* load(standing.self)
  else {
    yield* (yield* HostSession).notify(
      `Intercom: a team coordinated by session ${standing.coordinator.sessionId} exists here now; ` +
        "this session is an anonymous worker of it.",
      "info"
    )
  }
  yield* (yield* SessionScope).fork(announce(standing))
})

/**
 * The team file, published now if there is none (spec 1.3). Losing the race makes this session an anonymous worker of
 * the winner's team and fails with who coordinates.
 */
export const publishTeam = Effect.fn("publishTeam")(function*(solo: Solo, chosen?: MultiplexerKind) {
  const membership = yield* Membership
  const scope = yield* SessionScope
  const store = yield* ConfigStore
  const log = yield* ObservationLog
  const multiplexer = chosen ?? (yield* (yield* Multiplexers).here)
  const { real: root } = yield* (yield* ProjectDirectories).resolve(solo.root, ".")
  // Lock and secret first: without a private state folder there can be no team, and then no file either.
  yield* membership.lock(root)
  yield* (yield* Secrets).key(root)
  const port = yield* ownPort
  yield* scope.guard
  const published = yield* store.publish(root, firstConfig(membership.sessionId, port, multiplexer), scope.guard)
  yield* membership.join(root)
  const { standing } = yield* membership.enter
  if (standing.role === "solo") return yield* new SessionReplaced()
  if (published._tag === "Lost") {
    if (standing.role !== "coordinator") {
      yield* joinAs(standing)
      return yield* new TeamTaken({
        coordinatorSessionId: coordinatorOf(published.config).sessionId,
        root
      })
    }
    yield* coordinate(standing)
  } else {
    yield* log.open(standing.root)
    yield* keepHouse(standing.root)
  }
  if (standing.self !== undefined) yield* load(standing.self)
  yield* log.record({ event: "config.changed" })
  return standing
})
