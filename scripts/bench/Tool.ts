import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import { agentBySession, type TeamConfig } from "../../src/domain/TeamConfig.ts"
import * as Bridge from "../../src/layers/Bridge.ts"
import * as CommandRunner from "../../src/layers/CommandRunner/Node.ts"
import * as Queue from "../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Ids from "../../src/layers/Ids/Node.ts"
import * as Client from "../../src/layers/IntercomClient/Http.ts"
import * as Server from "../../src/layers/IntercomServer/Http.ts"
import * as Multiplexers from "../../src/layers/Multiplexers/Live.ts"
import * as Log from "../../src/layers/ObservationLog/File.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as Fence from "../../src/layers/SessionScope/Fence.ts"
import * as TeamFiles from "../../src/layers/TeamFiles.ts"
import { Membership } from "../../src/programs/Membership.ts"
import * as SessionParts from "../../src/programs/SessionParts.ts"
import { start } from "../../src/programs/Start.ts"
import { runTool } from "../../src/programs/tools/RunTool.ts"
import { ConfigReader } from "../../src/services/ConfigReader.ts"
import { HostProgram } from "../../src/services/HostProgram.ts"
import { SavedSessions } from "../../src/services/SavedSessions.ts"
import { makeHost } from "../../test/support/HostSimulated.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { coordinatorId, place, team, workerId, workerName } from "./Team.ts"

class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

/** A Pi session as core.ts composes it, on a simulated host; nothing is launched here. */
const session = (sessionId: typeof coordinatorId, root: string, last: Scope.Scope) => {
  const machine = Layer.mergeAll(Platform.layer, CommandRunner.layer, Log.layer(sessionId), Queue.layer).pipe(
    Layer.provideMerge(Ids.layer)
  )
  const launching = Layer.succeed(HostProgram, {
    argv: Effect.succeed(["pi"] as const),
    monitor: () => Effect.succeed(["true"] as const),
    environment: Effect.succeed({}),
    checkCopies: () => Effect.void
  })
  const unused = () => Effect.dieMessage("nothing is resumed or closed here")
  const sessions = Layer.succeed(SavedSessions, { find: unused, header: unused })
  return SessionParts.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Server.layer, Client.layer, Multiplexers.layer, launching, sessions)),
    Layer.provideMerge(Fence.layer({ sessionId, open: true }, last)),
    Layer.provideMerge(TeamFiles.layer),
    Layer.provideMerge(makeHost(sessionId, root).layer),
    Layer.provideMerge(machine)
  )
}

type Services = Layer.Layer.Success<ReturnType<typeof session>>

const open = (sessionId: typeof coordinatorId, root: string) =>
  Effect.gen(function*() {
    const built = yield* Layer.build(session(sessionId, root, yield* Effect.scope))
    const opened = Effect.all([Bridge.make<Services>((text) => text), start, Membership, ConfigReader])
    const [bridge, , membership, reader] = yield* Effect.provide(opened, built)
    return { bridge, port: membership.port, config: Effect.map(reader.read(root), Option.getOrThrow) }
  })

const portIn = (config: TeamConfig): number => agentBySession(config, workerId(0))?.port ?? 0

/**
 * `intercom_send` as Pi runs it, from the coordinator to a worker, both sessions in this process: permission, fresh
 * config, signature, HTTP, and everything that the receiving session does until its host has the text.
 */
export const tool = (folder: string) =>
  Effect.gen(function*() {
    const root = join(folder, "tool")
    place(root, team(256, "x".repeat(4000)))
    const coordinator = yield* open(coordinatorId, root)
    const worker = yield* open(workerId(0), root)
    // The worker reports its port by itself; the coordinator saves it.
    const bound = Option.getOrThrow(yield* worker.port)
    yield* coordinator.config.pipe(
      Effect.repeat({ until: (config) => portIn(config) === bound, schedule: Schedule.spaced("20 millis") }),
      Effect.timeout("10 seconds")
    )
    const args = { to: workerName(0), message: "x".repeat(200) }
    const one = Effect.promise(() => coordinator.bridge.run(runTool("intercom_send", args, { id: "", epoch: 0 }))).pipe(
      Effect.flatMap((outcome) =>
        outcome._tag === "Done" ? Effect.void : Effect.fail(new Refused({ message: outcome.sentence }))
      )
    )
    return { "send.tool256Ms": round(median(yield* repeated(timed(one), { warmUp: 200, counted: 500 })), 2) }
  })
