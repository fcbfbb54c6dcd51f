import * as Effect from "effect/Effect"
import { LaunchFailed } from "../../domain/Launch.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result } from "../../domain/ToolResult.ts"
import { HostProgram } from "../../services/HostProgram.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { ObservationLog } from "../../services/ObservationLog.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { StateDir } from "../../services/StateDir.ts"
import type { Standing } from "../Membership.ts"
import { publishTeam } from "../Team.ts"

/**
 * Launches one anonymous worker in the configured multiplexer. Submitted is all that is known: its registration comes
 * by itself (spec 5). Publishes the team first, but only once the directory has been found to be good.
 */
export const createWorker = Effect.fn("intercom_create_worker")(
  function*(standing: Standing, args: ToolArguments<"intercom_create_worker">) {
    const program = yield* HostProgram
    const scope = yield* SessionScope
    const log = yield* ObservationLog
    const directory = yield* (yield* ProjectDirectories).resolve(standing.root, args.projectDirectory ?? ".")
    yield* program.checkCopies(directory.real)
    const team = standing.role === "solo" ? yield* publishTeam(standing) : standing
    const environment = {
      ...(yield* program.environment),
      PI_INTERCOM_ROOT: team.root,
      PI_INTERCOM_STATE_DIR: yield* (yield* StateDir).base
    }
    yield* scope.guard
    const launched = yield* (yield* Multiplexers).of(team.config.multiplexer).launch({
      root: team.root,
      argv: yield* program.argv,
      directory: directory.real,
      environment
    }).pipe(
      Effect.tapBoth({
        onSuccess: () => log.record({ event: "launch.result", outcome: "submitted" }),
        onFailure: (failed) => log.record({ event: "launch.result", outcome: failed.reason })
      }),
      Effect.mapError((failed) => new LaunchFailed({ ...failed, published: standing.role === "solo" }))
    )
    return result({
      submitted: true,
      multiplexer: launched.multiplexer,
      tab: launched.tab,
      pane: launched.pane,
      projectDirectory: directory.relative,
      registrationAwaited: false,
      note: "If no registration arrives, look at that tab: Pi may be asking the person whether to trust the folder."
    })
  }
)
