import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { Agent } from "../domain/TeamConfig.ts"
import { HostSession } from "../services/HostSession.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { Membership } from "./Membership.ts"

/**
 * Loads what an entry says this session is. A worker's host session and tab get its name; the coordinator's are the
 * user's and stay (spec 3.2). A tab that cannot be renamed is a warning: the responsibility stays loaded.
 */
export const load = Effect.fn("Responsibility.load")(function*(self: Agent) {
  const { loaded } = yield* Membership
  const identity = { name: self.name, sessionId: self.sessionId, responsibility: self.description }
  yield* Ref.set(loaded, Option.some(identity))
  yield* (yield* ObservationLog).record({ event: "config.reloaded" })
  if (self.coordinator) return
  const host = yield* HostSession
  yield* host.setName(self.name)
  const rename = (yield* Multiplexers).title(self.name).pipe(
    Effect.catchTag("TitleFailed", (failed) => host.notify(failed.message, "warning"))
  )
  yield* (yield* SessionScope).fork(rename)
})
