import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SessionId } from "../../src/domain/Primitives.ts"
import { agentBySession } from "../../src/domain/TeamConfig.ts"
import * as Bridge from "../../src/layers/Bridge.ts"
import * as CommandRunner from "../../src/layers/CommandRunner/Node.ts"
import * as Queue from "../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Ids from "../../src/layers/Ids/Node.ts"
import * as Client from "../../src/layers/IntercomClient/Http.ts"
import * as Server from "../../src/layers/IntercomServer/Http.ts"
import * as Multiplexers from "../../src/layers/Multiplexers/Live.ts"
import * as Log from "../../src/layers/ObservationLog/File.ts"
import * as Reader from "../../src/layers/ObservationReader/File.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as Fence from "../../src/layers/SessionScope/Fence.ts"
import * as TeamFiles from "../../src/layers/TeamFiles.ts"
import { Membership } from "../../src/programs/Membership.ts"
import * as SessionParts from "../../src/programs/SessionParts.ts"
import { start } from "../../src/programs/Start.ts"
import { ConfigReader } from "../../src/services/ConfigReader.ts"
import { HostProgram } from "../../src/services/HostProgram.ts"
import { SavedSessions } from "../../src/services/SavedSessions.ts"
import type { SimulatedHost } from "../../test/support/HostSimulated.ts"

/** Pi as far as a bench needs it: nothing is launched or resumed, and every saved session is what it should be. */
const pi = Layer.merge(
  Layer.succeed(HostProgram, {
    argv: Effect.succeed(["pi"] as const),
    monitor: () => Effect.succeed(["true"] as const),
    environment: Effect.succeed({}),
    checkCopies: () => Effect.void
  }),
  Layer.succeed(SavedSessions, {
    find: () => Effect.dieMessage("nothing is resumed here"),
    header: () => Effect.succeed("right")
  })
)

/** What the programs of a session are built over. */
const services = (sessionId: SessionId, host: SimulatedHost["layer"], last: Scope.Scope) => {
  const machine = Layer.mergeAll(Platform.layer, CommandRunner.layer, Log.layer(sessionId), Queue.layer).pipe(
    Layer.provideMerge(Ids.layer)
  )
  return Layer.mergeAll(Server.layer, Client.layer, Multiplexers.layer, Reader.layer, pi).pipe(
    Layer.provideMerge(Fence.layer({ sessionId, open: true }, last)),
    Layer.provideMerge(TeamFiles.layer),
    Layer.provideMerge(host),
    Layer.provideMerge(machine)
  )
}
type Base = Layer.Layer.Success<ReturnType<typeof services>>
type Services = Base | Layer.Layer.Success<typeof SessionParts.layer>

/**
 * A Pi session as core.ts composes it, on a simulated host, started; it ends with the scope. `other` are services that it
 * has instead, over those that it would have.
 */
export const open = (
  sessionId: SessionId,
  root: string,
  host: SimulatedHost["layer"],
  other: Layer.Layer<never, never, Base> | Layer.Layer<Base, never, Base> = Layer.empty
) =>
  Effect.gen(function*() {
    const base = services(sessionId, host, yield* Effect.scope)
    const built = yield* Layer.build(SessionParts.layer.pipe(Layer.provideMerge(other), Layer.provideMerge(base)))
    const opened = Effect.all([Bridge.make<Services>((text) => text), start, Membership, ConfigReader])
    const [bridge, , membership, reader] = yield* Effect.provide(opened, built)
    return { bridge, port: membership.port, config: Effect.map(reader.read(root), Option.getOrThrow) }
  })

/** Waits until the coordinator has saved the port that the worker reported by itself. */
export const connected = (
  coordinator: Effect.Effect.Success<ReturnType<typeof open>>,
  worker: Effect.Effect.Success<ReturnType<typeof open>>,
  workerId: SessionId
) =>
  Effect.gen(function*() {
    const bound = Option.getOrThrow(yield* worker.port)
    yield* coordinator.config.pipe(
      Effect.repeat({
        until: (config) => agentBySession(config, workerId)?.port === bound,
        schedule: Schedule.spaced("20 millis")
      }),
      Effect.timeout("10 seconds")
    )
  })
