import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { SessionId } from "../../../src/domain/Primitives.ts"
import type { ToolName } from "../../../src/domain/ToolCatalogue.ts"
import * as CommandRunner from "../../../src/layers/CommandRunner/Node.ts"
import * as Unqueued from "../../../src/layers/FileMutationQueue/Unqueued.ts"
import * as HostProgram from "../../../src/layers/HostProgram/Pi.ts"
import * as Ids from "../../../src/layers/Ids/Node.ts"
import * as IntercomClient from "../../../src/layers/IntercomClient/Http.ts"
import * as IntercomServer from "../../../src/layers/IntercomServer/Http.ts"
import * as Multiplexers from "../../../src/layers/Multiplexers/Live.ts"
import * as ObservationLog from "../../../src/layers/ObservationLog/File.ts"
import * as ObservationReader from "../../../src/layers/ObservationReader/File.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as SavedSessions from "../../../src/layers/SavedSessions/Pi.ts"
import * as SessionFence from "../../../src/layers/SessionScope/Fence.ts"
import * as Lifetime from "../../../src/layers/SessionScope/Lifetime.ts"
import * as TeamFiles from "../../../src/layers/TeamFiles.ts"
import { command } from "../../../src/programs/Command.ts"
import { Membership } from "../../../src/programs/Membership.ts"
import * as SessionParts from "../../../src/programs/SessionParts.ts"
import { start } from "../../../src/programs/Start.ts"
import { runTool } from "../../../src/programs/tools/RunTool.ts"
import type { ToolCall } from "../../../src/programs/tools/ToolCall.ts"
import { makeHost } from "../HostSimulated.ts"
import type { HostVersion } from "../HostVersions.ts"
import { saveWith } from "../PiSession.ts"

/** Where the Pi is whose session this is: our extension's file, and Pi's agent directory. */
export interface Where {
  readonly entry: string
  readonly agentDir: string
}

/**
 * What is taken from a Pi, with that version's own classes, and how it saves a session. Only that version is loaded:
 * each takes half a second.
 */
const piOf = (version: HostVersion, where: Where) =>
  version === "1.6.0"
    ? Effect.map(Effect.promise(() => import("@earendil-works/pi-coding-agent")), (pi) => ({
      layer: Layer.merge(HostProgram.layer({ ...pi, ...where }), SavedSessions.layer({ ...pi, ...where })),
      save: (id: string, cwd: string) => saveWith(pi.SessionManager, id, cwd)
    }))
    : Effect.map(Effect.promise(() => import("pi-0-84")), (pi) => ({
      layer: Layer.merge(HostProgram.layer({ ...pi, ...where }), SavedSessions.layer({ ...pi, ...where })),
      save: (id: string, cwd: string) => saveWith(pi.SessionManager, id, cwd)
    }))

/**
 * One session of a team over everything that the product itself uses, by the environment of this process: files, HTTP,
 * tmux, Pi's classes. Only what Pi shows to the person and the model is simulated. Ends with the scope.
 */
export const open = Effect.fnUntraced(function*(id: string, directory: string, version: HostVersion, where: Where) {
  const host = makeHost(id, directory)
  const pi = yield* piOf(version, where)
  const fence: SessionFence.Fence = { sessionId: SessionId.make(id), open: true }
  const lifetime = yield* Effect.acquireRelease(Lifetime.open, ({ whole }) => {
    fence.open = false
    return Scope.close(whole, Exit.void)
  })
  const log = ObservationLog.layer(fence.sessionId)
  const here = Layer.mergeAll(Platform.layer, CommandRunner.layer, log, Unqueued.layer).pipe(
    Layer.provideMerge(Ids.layer)
  )
  const adapters = Layer.mergeAll(
    SessionFence.layer(fence, lifetime.last),
    IntercomServer.layer,
    IntercomClient.layer,
    Multiplexers.layer,
    ObservationReader.layer,
    pi.layer
  ).pipe(
    Layer.provideMerge(TeamFiles.layer),
    Layer.provideMerge(Layer.merge(here, host.layer))
  )
  const programs = SessionParts.layer.pipe(Layer.provideMerge(adapters))
  const context = yield* Layer.buildWithScope(programs, lifetime.work)
  const { role } = yield* start.pipe(Effect.provide(context), Scope.extend(lifetime.work))
  return {
    role,
    host,
    save: pi.save,
    port: Effect.flatten(Context.get(context, Membership).port.get),
    tool: (name: ToolName, args: unknown, call: ToolCall = { id: "", epoch: 0 }) =>
      Effect.provide(runTool(name, args, call), context),
    command: (args: string) => Effect.provide(command(args), context),
    /** Only stops its work, its listener too: the process stays, and with it what it keeps to the last, its lock. */
    stop: Effect.suspend(() => {
      fence.open = false
      return Scope.close(lifetime.work, Exit.void)
    })
  }
})
