import * as Effect from "effect/Effect"
import { LaunchFailed } from "../../domain/Launch.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result } from "../../domain/ToolResult.ts"
import { HostProgram } from "../../services/HostProgram.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import { launchPi } from "../LaunchPi.ts"
import type { Standing } from "../Membership.ts"
import { publishTeam } from "../Team.ts"

/**
 * Launches one anonymous worker in the configured multiplexer. Submitted is all that is known: its registration comes
 * by itself (spec 5). Publishes the team first, but only once the directory has been found to be good.
 */
export const createWorker = Effect.fn("intercom_create_worker")(
  function*(standing: Standing, args: ToolArguments<"intercom_create_worker">) {
    const directory = yield* (yield* ProjectDirectories).resolve(standing.root, args.projectDirectory ?? ".")
    yield* (yield* HostProgram).checkCopies(directory.real)
    const team = standing.role === "solo" ? yield* publishTeam(standing) : standing
    const launched = yield* launchPi(team, directory.real, []).pipe(
      Effect.mapError((failed) =>
        failed._tag === "LaunchFailed" ? new LaunchFailed({ ...failed, published: standing.role === "solo" }) : failed
      )
    )
    return result({
      submitted: true,
      multiplexer: launched.multiplexer,
      tab: launched.tab,
      pane: launched.pane,
      projectDirectory: directory.relative,
      registrationAwaited: false,
      note: "If no registration arrives, look at that tab: Pi may be asking the person whether to trust the folder. " +
        "If the tab is gone, Pi ended at once."
    })
  }
)
