import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { runTool } from "../../src/programs/tools/RunTool.ts"
import { makeHost } from "../../test/support/HostSimulated.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { connected, open } from "./Session.ts"
import { coordinatorId, place, team, workerId, workerName } from "./Team.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

/**
 * `intercom_send` as Pi runs it, from the coordinator to a worker, both sessions in this process: permission, fresh
 * config, signature, HTTP, and everything that the receiving session does until its host has the text.
 */
export const tool = (folder: string) =>
  Effect.gen(function*() {
    const root = join(folder, "tool")
    place(root, team(256, "x".repeat(4000)))
    const coordinator = yield* open(coordinatorId, root, makeHost(coordinatorId, root).layer)
    const worker = yield* open(workerId(0), root, makeHost(workerId(0), root).layer)
    yield* connected(coordinator, worker, workerId(0))
    const args = { to: workerName(0), message: "x".repeat(200) }
    const one = Effect.promise(() => coordinator.bridge.run(runTool("intercom_send", args, { id: "", epoch: 0 }))).pipe(
      Effect.flatMap((outcome) =>
        outcome._tag === "Done" ? Effect.void : Effect.fail(new Refused({ message: outcome.sentence }))
      )
    )
    return { "send.tool256Ms": round(median(yield* repeated(timed(one), { warmUp: 200, counted: 500 })), 2) }
  })
