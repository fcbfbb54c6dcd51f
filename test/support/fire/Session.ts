import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { MultiplexerKind, SessionId } from "../../../src/domain/Primitives.ts"
import * as Ids from "../../../src/layers/Ids/Node.ts"
import * as IntercomClient from "../../../src/layers/IntercomClient/Http.ts"
import * as IntercomServer from "../../../src/layers/IntercomServer/Http.ts"
import * as SessionFence from "../../../src/layers/SessionScope/Fence.ts"
import * as Lifetime from "../../../src/layers/SessionScope/Lifetime.ts"
import { command } from "../../../src/programs/Command.ts"
import { Membership } from "../../../src/programs/Membership.ts"
import * as SessionParts from "../../../src/programs/SessionParts.ts"
import { start } from "../../../src/programs/Start.ts"
import { publishTeam } from "../../../src/programs/Team.ts"
import { HostProgram } from "../../../src/services/HostProgram.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { SavedSessions } from "../../../src/services/SavedSessions.ts"
import { makeHost } from "../HostSimulated.ts"
import { makeObservationMemory } from "../ObservationMemory.ts"
import type { Files } from "./Files.ts"

const noPane = Effect.dieMessage("this child has no terminal")

/** Nothing here opens a tab or looks at one. */
const terminals = Layer.succeed(Multiplexers, {
  of: (kind) => ({
    kind,
    launch: () => noPane,
    title: () => Effect.void,
    identify: noPane,
    verify: () => noPane,
    canClose: false,
    close: () => noPane,
    isGone: () => noPane,
    placeMonitor: () => noPane
  }),
  own: Option.none(),
  gone: () => noPane,
  here: Effect.succeed<MultiplexerKind>("tmux"),
  title: () => Effect.void
})

const noSessions = Layer.succeed(SavedSessions, {
  find: () => Effect.dieMessage("this child resumes nobody"),
  header: () => Effect.succeed("absent")
})

/** Nothing is started from here. */
const program = Layer.succeed(HostProgram, {
  argv: noPane,
  monitor: () => noPane,
  environment: noPane,
  checkCopies: () => noPane
})

/** The product's programs for one session: real files, real HTTP, a simulated host. Ends with the scope. */
export const startSession = Effect.fnUntraced(
  function*(id: SessionId, directory: string, files: Context.Context<Files>) {
    const host = makeHost(id, directory)
    const fence: SessionFence.Fence = { sessionId: id, open: true }
    const lifetime = yield* Effect.acquireRelease(Lifetime.open, ({ whole }) => {
      fence.open = false
      return Scope.close(whole, Exit.void)
    })
    const adapters = Layer.mergeAll(
      SessionFence.layer(fence, lifetime.last),
      IntercomServer.layer,
      IntercomClient.layer,
      terminals,
      program,
      noSessions,
      makeObservationMemory().layer
    ).pipe(
      Layer.provideMerge(Layer.mergeAll(host.layer, Ids.layer, Layer.succeedContext(files)))
    )
    const programs = SessionParts.layer.pipe(Layer.provideMerge(adapters))
    const context = yield* Layer.buildWithScope(programs, lifetime.work)
    const standing = yield* start.pipe(Effect.provide(context), Scope.extend(lifetime.work))
    return {
      role: standing.role,
      host,
      enter: Context.get(context, Membership).enter,
      publish: publishTeam({ role: "solo", root: directory }).pipe(
        Effect.map(({ role }) => role),
        Effect.provide(context)
      ),
      command: (args: string) => Effect.provide(command(args), context)
    }
  }
)
