import * as Effect from "effect/Effect"
import { HostProgram } from "../services/HostProgram.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { StateDir } from "../services/StateDir.ts"
import type { Member } from "./Membership.ts"

/** What a child of this session finds in its environment (spec 5). */
export const childEnvironment = Effect.fn("childEnvironment")(function*(root: string) {
  const { environment } = yield* HostProgram
  return {
    ...(yield* environment),
    PI_INTERCOM_ROOT: root,
    PI_INTERCOM_STATE_DIR: yield* (yield* StateDir).base
  }
})

/**
 * Submits this very Pi, with this extension and `args`, to the team's multiplexer, in a real directory that was checked
 * (spec 5). Submitted is all that is known then.
 */
export const launchPi = Effect.fn("launchPi")(
  function*(team: Member, directory: string, args: ReadonlyArray<string>) {
    const program = yield* HostProgram
    const log = yield* ObservationLog
    const environment = yield* childEnvironment(team.root)
    const [pi, ...own] = yield* program.argv
    yield* (yield* SessionScope).guard
    return yield* (yield* Multiplexers).of(team.config.multiplexer).launch({
      root: team.root,
      argv: [pi, ...own, ...args],
      directory,
      environment
    }).pipe(
      Effect.tapBoth({
        onSuccess: () => log.record({ event: "launch.result", outcome: "submitted" }),
        onFailure: (failed) => log.record({ event: "launch.result", outcome: failed.reason })
      })
    )
  }
)
