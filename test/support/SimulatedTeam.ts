import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { Launched, LaunchRequest } from "../../src/domain/Launch.ts"
import { LaunchFailed } from "../../src/domain/Launch.ts"
import type { MonitorFailed, MonitorRequest } from "../../src/domain/MonitorPane.ts"
import { formatTrace, IdentityFailed } from "../../src/domain/Pane.ts"
import { type MultiplexerKind, SessionId } from "../../src/domain/Primitives.ts"
import type { ToolName } from "../../src/domain/ToolCatalogue.ts"
import * as SessionFence from "../../src/layers/SessionScope/Fence.ts"
import * as Lifetime from "../../src/layers/SessionScope/Lifetime.ts"
import { ActivityTracker } from "../../src/programs/ActivityTracker.ts"
import { command } from "../../src/programs/Command.ts"
import { Delivery } from "../../src/programs/Delivery.ts"
import { Membership } from "../../src/programs/Membership.ts"
import { promptSection } from "../../src/programs/PromptSection.ts"
import * as SessionParts from "../../src/programs/SessionParts.ts"
import { start } from "../../src/programs/Start.ts"
import { runTool } from "../../src/programs/tools/RunTool.ts"
import type { ConfigReader } from "../../src/services/ConfigReader.ts"
import type { ConfigStore } from "../../src/services/ConfigStore.ts"
import { HostProgram } from "../../src/services/HostProgram.ts"
import { type Multiplexer, Multiplexers } from "../../src/services/Multiplexers.ts"
import type { OwnedLock } from "../../src/services/OwnedLock.ts"
import type { ProcessLedger } from "../../src/services/ProcessLedger.ts"
import type { ProjectDirectories } from "../../src/services/ProjectDirectories.ts"
import type { ReportStore } from "../../src/services/ReportStore.ts"
import { SavedSessions, SessionNotSaved } from "../../src/services/SavedSessions.ts"
import type { Secrets } from "../../src/services/Secrets.ts"
import type { StateDir } from "../../src/services/StateDir.ts"
import { makeTeamWorld } from "./ConfigMemory.ts"
import { makeHost } from "./HostSimulated.ts"
import { makeIds } from "./IdsTest.ts"
import { makeLedgerMemory } from "./LedgerMemory.ts"
import { makeLockWorld } from "./LockMemory.ts"
import * as Network from "./NetworkMemory.ts"
import { makeObservationWorld } from "./ObservationMemory.ts"
import { unknownProcesses } from "./ProcessUnknown.ts"
import { makeReportMemory } from "./ReportMemory.ts"
import * as StateMemory from "./StateMemory.ts"

/** A terminal in memory: keeps what was launched and how tabs were titled. */
const makeTerminals = () => {
  const launches: Array<LaunchRequest> = []
  const titles: Array<string> = []
  const monitors: Array<MonitorRequest> = []
  /** What happens while the monitor's pane is looked after. */
  const placing: { do: Effect.Effect<void, MonitorFailed> } = { do: Effect.void }
  const failing: { with: LaunchFailed | undefined } = { with: undefined }
  /** Whether this session's panes can be closed. */
  const closing = { can: false }
  /** It answers nobody. */
  const hanging = { now: false }
  /** The multiplexer that sessions run in; none: outside any. */
  const inside: { kind: MultiplexerKind | undefined } = { kind: "tmux" }
  /** What happens while a launch is submitted, before its answer. */
  const during: { do: Effect.Effect<void> } = { do: Effect.void }
  /** The traces of panes that are proven gone. */
  const gone = new Set<string>()
  const traceOf = (pane: string) => formatTrace({ multiplexer: "tmux", workspaceId: "tmux:1:1", paneId: pane })
  const multiplexer = (kind: MultiplexerKind): Multiplexer => ({
    kind,
    launch: (request) =>
      Effect.suspend(() => {
        if (failing.with !== undefined) return failing.with
        const pane = `%${launches.push(request)}`
        const launched: Launched = {
          multiplexer: kind,
          tab: `@${launches.length}`,
          pane,
          ...(kind === "tmux" ? { trace: traceOf(pane) } : {})
        }
        return Effect.as(during.do, launched)
      }),
    title: (name) => Effect.sync(() => void titles.push(name)),
    identify: Effect.suspend(() =>
      hanging.now
        ? new IdentityFailed({ detail: "it does not answer" })
        : Effect.succeed({ workspaceId: "tmux:1:1", paneId: "%0", terminalId: "/dev/pts/0" })
    ),
    verify: () => Effect.fail(new IdentityFailed({ detail: "a simulated terminal" })),
    canClose: false,
    close: () => Effect.succeed("not_started"),
    isGone: () => Effect.succeed(false),
    placeMonitor: (request) =>
      Effect.suspend(() => {
        monitors.push(request)
        return Effect.as(placing.do, { outcome: "created" as const, pane: "%monitor" })
      })
  })
  const layer = Layer.succeed(Multiplexers, {
    of: multiplexer,
    get own() {
      return Option.map(
        Option.fromNullable(inside.kind),
        (kind) => ({ ...multiplexer(kind), canClose: closing.can })
      )
    },
    gone: (trace) => Effect.sync(() => gone.has(trace)),
    here: Effect.sync((): MultiplexerKind => inside.kind ?? "herdr"),
    title: (name) => Effect.sync(() => void titles.push(name))
  })
  /** Closes a pane, as the multiplexer then proves. */
  const close = (pane: string) => void gone.add(traceOf(pane))
  return { launches, titles, closing, hanging, inside, monitors, placing, failing, during, close, layer }
}

/** The Pi of a machine: the sessions that it has saved by their ids, and what else would be loaded in a folder. */
const makePi = () => {
  const saved = new Set<string>()
  const copies: { in: string | undefined } = { in: undefined }
  /** What happens meanwhile, during the last check before a launch. */
  const checking: { do: Effect.Effect<void> } = { do: Effect.void }
  const program = Layer.succeed(HostProgram, {
    argv: Effect.succeed(["pi", "-e", "/extension.js"] as const),
    monitor: (root) => Effect.succeed(["node", "/monitor.cjs", "--root", root] as const),
    environment: Effect.succeed({ PATH: "/bin" }),
    checkCopies: (directory) =>
      Effect.suspend(() =>
        copies.in === directory
          ? new LaunchFailed({ reason: "other_copy", detail: "two copies of Intercom" })
          : checking.do
      )
  })
  const sessions = Layer.succeed(SavedSessions, {
    find: (directory, sessionId) =>
      Effect.suspend(() =>
        saved.has(sessionId)
          ? Effect.succeed(`/saved${directory}/${sessionId}.jsonl`)
          : new SessionNotSaved({ reason: "absent", detail: "that worker's session is not saved" })
      ),
    header: (file, sessionId) =>
      Effect.sync(() => !saved.has(sessionId) ? "absent" : file.endsWith(`/${sessionId}.jsonl`) ? "right" : "wrong")
  })
  return { saved, copies, checking, layer: Layer.merge(program, sessions) }
}

/** One machine with several simulated Pi sessions on it: one team file world, one network, one terminal. */
export const makeMachine = (...folders: ReadonlyArray<string>) => {
  const world = makeTeamWorld(...folders)
  const locks = makeLockWorld()
  const { layer, ledgers } = makeLedgerMemory()
  const files = Layer.mergeAll(world.layer, StateMemory.layer, makeReportMemory(), layer)
  const machine = makeMachineOn(files, locks.layerFor)
  /** Kills a session's process: its port is free, its lock stays behind. */
  const kill = (session: Effect.Effect.Success<ReturnType<typeof machine.open>>) =>
    Effect.zipRight(session.stop, Effect.sync(() => locks.die(session.pid)))
  return { world, locks, ledgers, ...machine, kill }
}

/** A simulated machine over given files and locks (those of a process), for example real ones. */
export const makeMachineOn = (
  files: Layer.Layer<
    ConfigReader | ConfigStore | ProjectDirectories | Secrets | StateDir | ReportStore | ProcessLedger
  >,
  locksOf: (pid: number) => Layer.Layer<OwnedLock>
) => {
  const network = Network.make()
  const terminals = makeTerminals()
  const pi = makePi()
  const observed = makeObservationWorld()
  let sessions = 0

  /** Opens a session as Pi would, in a process of its own, and starts intercom in it. */
  const open = Effect.fnUntraced(function*(id: string, directory: string) {
    sessions += 1
    const pid = 1000 + sessions
    const host = makeHost(id, directory)
    const observations = observed.session(id)
    const fence: SessionFence.Fence = { sessionId: SessionId.make(id), open: true }
    const lifetime = yield* Effect.acquireRelease(Lifetime.open, ({ whole }) => Scope.close(whole, Exit.void))
    const adapters = Layer.mergeAll(SessionFence.layer(fence, lifetime.last), network.ends, observed.reader).pipe(
      Layer.provideMerge(Layer.mergeAll(
        files,
        host.layer,
        observations.layer,
        terminals.layer,
        pi.layer,
        unknownProcesses,
        locksOf(pid),
        makeIds(sessions)
      ))
    )
    const programs = SessionParts.layer.pipe(Layer.provideMerge(adapters))
    const context = yield* Layer.buildWithScope(programs, lifetime.work)
    const started = yield* start.pipe(Effect.provide(context), Scope.extend(lifetime.work), Effect.exit)
    const inside = <A, E>(effect: Effect.Effect<A, E, Layer.Layer.Success<typeof programs>>) =>
      Effect.provide(effect, context)
    const end = (scope: Scope.CloseableScope) =>
      Effect.suspend(() => {
        fence.open = false
        return Scope.close(scope, Exit.void)
      })
    return {
      pid,
      host,
      observations,
      fence,
      started,
      /** One tool call by this session's model: the result's text, or the error. */
      tool: (name: ToolName, args: unknown = {}, id = "call") =>
        inside(Effect.suspend(() => runTool(name, args, { id, epoch: host.work.state().epoch }))),
      command: (args: string) => inside(command(args)),
      section: inside(promptSection),
      delivery: Context.get(context, Delivery),
      activity: Context.get(context, ActivityTracker),
      membership: Context.get(context, Membership),
      inside,
      /** Its `session_shutdown`. */
      close: end(lifetime.whole),
      /** Only stops its work: what it keeps to the last, its lock, stays. */
      stop: end(lifetime.work)
    }
  })

  return { network, terminals, pi, open }
}
