import * as Effect from "effect/Effect"
import type { ConfigRefused, StateUnusable } from "../domain/ConfigErrors.ts"
import { ProjectDirectory } from "../domain/Primitives.ts"
import type { SendError } from "../domain/WireErrors.ts"
import { HostSession } from "../services/HostSession.ts"
import { ProjectDirectories } from "../services/ProjectDirectories.ts"
import type { Member } from "./Membership.ts"
import { ownPort, post, postStatus } from "./Post.ts"
import { reopen } from "./Reopen.ts"

const unheard = (standing: Member) => (error: SendError | StateUnusable | ConfigRefused) =>
  HostSession.pipe(Effect.flatMap((host) =>
    host.notify(
      `Intercom: the coordinator could not be told that this session is here. ${error.message} ` +
        `The session stays reachable; nothing tries again. ${reopen(standing.coordinator.sessionId)}`,
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
