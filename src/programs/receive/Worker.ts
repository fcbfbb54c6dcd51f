import * as Effect from "effect/Effect"
import { HostSession } from "../../services/HostSession.ts"
import type { Commit } from "../../services/IntercomServer.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { type Member, Membership } from "../Membership.ts"
import { postStatus } from "../Post.ts"
import { load } from "../Responsibility.ts"
import { refuse } from "./Context.ts"

/** The coordinator asks for this session's status; it goes out as a message of its own (spec 4, request_status). */
export const requestStatus = Effect.fn("receive.requestStatus")(function*(standing: Member, commit: Commit) {
  const scope = yield* SessionScope
  const host = yield* HostSession
  const answer = postStatus(standing).pipe(
    Effect.catchAll((error) => host.notify(`Intercom: the coordinator asked for a status. ${error.message}`, "warning"))
  )
  yield* commit(scope.fork(answer))
})

/** The coordinator asks this session to load its entry: name, responsibility and tools, no turn (spec 3.3). */
export const reload = Effect.fn("receive.reload")(function*(standing: Member, commit: Commit) {
  if (standing.self === undefined) {
    return yield* refuse("this session has no entry in the team file; configure it first")
  }
  const { enter } = yield* Membership
  // Entering once more gives the host the tools of the new role.
  yield* commit(Effect.zipRight(load(standing.self), Effect.option(enter)))
})
