import * as Effect from "effect/Effect"
import type { StateUnusable } from "../domain/ConfigErrors.ts"
import { ProjectDirectory } from "../domain/Primitives.ts"
import type { SendError } from "../domain/WireErrors.ts"
import { HostSession } from "../services/HostSession.ts"
import { ProjectDirectories } from "../services/ProjectDirectories.ts"
import type { Member } from "./Membership.ts"
import { ownPort, post, postStatus } from "./Post.ts"

const unreachable = (error: SendError | StateUnusable) =>
  HostSession.pipe(Effect.flatMap((host) =>
    host.notify(
      `Intercom: the coordinator could not be told that this session is here. ${error.message} ` +
        "The session stays reachable; nothing tries again.",
      "warning"
    )
  ))

/**
 * Tells the coordinator that this session is there: an anonymous worker registers, a configured one reports its status
 * (spec 3.2). An unreachable coordinator is said once; nothing retries.
 */
export const announce = Effect.fn("announce")(function*(standing: Member) {
  if (standing.role === "coordinator") return
  if (standing.self !== undefined) {
    return yield* postStatus(standing).pipe(Effect.catchAll(unreachable))
  }
  const host = yield* HostSession
  const port = yield* ownPort
  const directory = yield* (yield* ProjectDirectories).resolve(standing.root, host.directory).pipe(
    Effect.map((location) => ProjectDirectory.make(location.relative)),
    Effect.catchTag("ConfigRefused", () => Effect.succeed(ProjectDirectory.make(".")))
  )
  yield* post(standing, standing.coordinator, (head) => ({
    ...head,
    kind: "registration",
    payload: { port, projectDirectory: directory }
  })).pipe(Effect.catchAll(unreachable))
})
