import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { Refused } from "../../../src/domain/SessionErrors.ts"
import * as SessionFence from "../../../src/layers/SessionScope/Fence.ts"
import * as Lifetime from "../../../src/layers/SessionScope/Lifetime.ts"
import * as SessionParts from "../../../src/programs/SessionParts.ts"
import { start } from "../../../src/programs/Start.ts"
import { HostProgram } from "../../../src/services/HostProgram.ts"
import { ObservationLog } from "../../../src/services/ObservationLog.ts"
import { ObservationReader } from "../../../src/services/ObservationReader.ts"
import { ProjectDirectories } from "../../../src/services/ProjectDirectories.ts"
import { ReportStore } from "../../../src/services/ReportStore.ts"
import { Secrets } from "../../../src/services/Secrets.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { makeIds } from "../IdsTest.ts"
import type { Files } from "./Files.ts"
import type { Observer } from "./Observer.ts"
import type { Pi } from "./Pi.ts"
import type { makeTerminals } from "./Terminals.ts"
import type { Wire } from "./Wire.ts"
import { type Body, root, type World } from "./World.ts"

/** What every session shares and no schedule touches. */
const still = Context.make(Secrets, {
  key: () => Effect.succeed({ mac: (text) => text, verify: (text, mac) => text === mac })
}).pipe(
  Context.add(StateDir, { base: Effect.succeed("/state"), of: () => Effect.succeed("/state/team") }),
  Context.add(ReportStore, {
    save: () => Effect.void,
    read: () => Effect.succeed({ reports: new Map(), unread: new Set<string>() })
  }),
  Context.add(ObservationLog, {
    record: () => Effect.void,
    open: () => Effect.void,
    prune: () => Effect.void,
    dropped: Effect.succeed(0)
  }),
  Context.add(ObservationReader, {
    snapshot: () => Effect.succeed({ takenAt: 0, workers: [], truncated: false, errors: [] })
  }),
  Context.add(ProjectDirectories, {
    resolve: (_, directory) => Effect.succeed({ real: root, relative: directory === root ? "." : directory })
  }),
  Context.add(HostProgram, {
    argv: Effect.succeed(["pi"] as const),
    monitor: () => Effect.succeed(["monitor"] as const),
    environment: Effect.succeed({}),
    checkCopies: () => Effect.void
  })
)

/** What a session is made of. */
export interface Machine {
  readonly world: World
  readonly observer: Observer
  readonly files: Files
  readonly wire: Wire
  readonly terminals: ReturnType<typeof makeTerminals>
}

type Parts = Layer.Layer.Success<typeof SessionParts.layer>
const merged = (machine: Machine, body: Body, pi: Pi) =>
  still.pipe(
    Context.merge(machine.files.of(body)),
    Context.merge(machine.wire.of(body)),
    Context.merge(machine.terminals.of(body)),
    Context.merge(pi.context)
  )
type Base = ReturnType<typeof merged> extends Context.Context<infer Services> ? Services : never
type Fenced = Layer.Layer.Success<ReturnType<typeof SessionFence.layer>>
type Numbered = Layer.Layer.Success<ReturnType<typeof makeIds>>

/** One instance of the extension in a Pi. */
export interface Session {
  readonly body: Body
  readonly pi: Pi
  /** Runs a program of this session; `done` hears how it ended, unless the process ends before. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, Parts | Base | Fenced | Numbered>,
    done: (exit: Exit.Exit<A, E>) => void
  ) => Fiber.RuntimeFiber<A, E>
  /** Its `session_shutdown`. */
  readonly close: () => void
}

/** Opens a session as Pi does and starts it; `started` is told once it takes part, or why it does not. */
export const openSession = (
  machine: Machine,
  body: Body,
  pi: Pi,
  started: (session: Session | undefined) => void
): void => {
  const { observer, world } = machine
  const fence: SessionFence.Fence = { sessionId: SessionId.make(body.sessionId), open: true }
  const loggers = HashSet.make(Logger.make(({ cause, logLevel, message }) => {
    if (logLevel._tag === "Error" && !Cause.isEmpty(cause)) world.fail(`a defect: ${Cause.pretty(cause)}`)
    else world.note(`log: ${String(message)}`)
  }))
  const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.withTracerEnabled(false), Effect.locally(FiberRef.currentLoggers, loggers))
  const built = Effect.gen(function*() {
    const lifetime = yield* Lifetime.open
    const base = merged(machine, body, pi)
    const layer = SessionParts.layer.pipe(
      Layer.provideMerge(SessionFence.layer(fence, lifetime.last)),
      Layer.provideMerge(makeIds(body.instance))
    )
    const parts = yield* Layer.buildWithScope(layer, lifetime.work).pipe(Effect.provide(base))
    const context = Context.merge(base, parts)
    const session: Session = {
      body,
      pi,
      run: (effect, done) => {
        const fiber = body.step.fork(quietly(Effect.provide(effect, context)))
        fiber.addObserver((exit) => {
          if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) world.fail(`a defect: ${Cause.pretty(exit.cause)}`)
          done(exit)
        })
        return fiber
      },
      close: () => {
        fence.open = false
        observer.shut(body)
        pi.leave()
        body.step.fork(quietly(Scope.close(lifetime.whole, Exit.void)))
      }
    }
    yield* start.pipe(Effect.provide(context), Scope.extend(lifetime.work))
    return session
  })
  observer.opened(body)
  body.step.fork(quietly(built)).addObserver((exit) => {
    if (Exit.isSuccess(exit)) return started(exit.value)
    if (Cause.isDie(exit.cause)) world.fail(`a defect at the start: ${Cause.pretty(exit.cause)}`)
    world.note(`${body.who}/${body.instance} does not start: ${Cause.pretty(exit.cause)}`)
    observer.shut(body)
    started(undefined)
  })
}

/** Whether a call was refused by a fence. */
export const isFenceRefusal = (exit: Exit.Exit<unknown, unknown>): boolean => {
  if (Exit.isSuccess(exit)) return false
  const failure = Cause.failureOption(exit.cause)
  return failure._tag === "Some" && failure.value instanceof Refused && failure.value.reason === "fenced"
}
