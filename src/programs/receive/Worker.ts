import * as Effect from "effect/Effect"
import { HostSession } from "../../services/HostSession.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { type Member, Membership } from "../Membership.ts"
import { postStatus } from "../Post.ts"
import { load } from "../Responsibility.ts"
import { refuse } from "./Context.ts"

/** The coordinator asks for this session's status; it goes out as a message of its own (spec 4, request_status). */
export const requestStatus = Effect.fn("receive.requestStatus")(function*(standing: Member) {
  const scope = yield* SessionScope
  const host = yield* HostSession
  yield* scope.fork(
    postStatus(standing).pipe(
      Effect.catchAll((error) =>
        host.notify(`Intercom: the coordinator asked for a status. ${error.message}`, "warning")
      )
    )
  )
})

/** The coordinator asks this session to load its entry: name, responsibility and tools, no turn (spec 3.3). */
export const reload = Effect.fn("receive.reload")(function*(standing: Member) {
  if (standing.self === undefined) {
    return yield* refuse("this session has no entry in the team file; configure it first")
  }
  const { enter } = yield* Membership
  yield* load(standing.self).pipe(
    Effect.zipRight(Effect.option(enter)),
    Effect.uninterruptible
  )
})
