import * as Effect from "effect/Effect"
import type { ConfigRefused, StateUnusable } from "../domain/ConfigErrors.ts"
import { ProjectDirectory } from "../domain/Primitives.ts"
import type { SendError } from "../domain/WireErrors.ts"
import { HostSession } from "../services/HostSession.ts"
import { ProjectDirectories } from "../services/ProjectDirectories.ts"
import type { Member } from "./Membership.ts"
import { ownPort, post, postStatus } from "./Post.ts"
import { reopen } from "./Reopen.ts"

/** What a coordinator that answered has refused is not mended by another one; nor is a folder or state of our own. */
const next = ({ coordinator }: Member, error: SendError | StateUnusable | ConfigRefused): string => {
  switch (error._tag) {
    case "Undelivered":
    case "OutcomeUnknown":
      return reopen(coordinator.sessionId)
    case "Rejected":
      return "The coordinator's session is there: look at it, then run /reload here, and this session tells it again."
    case "ConfigRefused":
    case "StateUnusable":
      return "Once that is mended, run /reload here."
  }
}

const unheard = (standing: Member) => (error: SendError | StateUnusable | ConfigRefused) =>
  HostSession.pipe(Effect.flatMap((host) =>
    host.notify(
      `Intercom: the coordinator could not be told that this session is here. ${error.message} ` +
        `The session stays reachable; nothing tries again. ${next(standing, error)}`,
      "warning"
    )
  ))

const register = Effect.fn("register")(function*(standing: Member) {
  const host = yield* HostSession
  const port = yield* ownPort
  // A folder that no entry could name cannot register: what it said of itself would be false.
  const { relative } = yield* (yield* ProjectDirectories).resolve(standing.root, host.directory)
  const payload = { port, projectDirectory: ProjectDirectory.make(relative) }
  yield* post(standing, standing.coordinator, (head) => ({ ...head, kind: "registration", payload }))
})

/**
 * Tells the coordinator that this session is there: an anonymous worker registers, a configured one reports its status
 * (spec 3.2). An unreachable coordinator is said once; nothing retries.
 */
export const announce = Effect.fn("announce")(function*(standing: Member) {
  if (standing.role === "coordinator") return
  yield* (standing.self === undefined ? register(standing) : postStatus(standing)).pipe(
    Effect.catchAll(unheard(standing))
  )
})
