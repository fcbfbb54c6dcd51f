import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import type { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import type { Launched } from "../../../src/domain/Launch.ts"
import { formatTrace, IdentityFailed, parseTrace } from "../../../src/domain/Pane.ts"
import type { CloseAnswer, VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import type { MultiplexerKind } from "../../../src/domain/Primitives.ts"
import { none } from "../../../src/layers/Multiplexers/Unavailable.ts"
import { type Multiplexer, Multiplexers } from "../../../src/services/Multiplexers.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { type Header, SavedSessions, SessionNotSaved } from "../../../src/services/SavedSessions.ts"
import type { Observer } from "./Observer.ts"
import type { MuxOperation } from "./Schedule.ts"
import { type Body, root, type World, type WorldPane } from "./World.ts"

const unverified = (detail: string) => new IdentityFailed({ detail })
const uid = 1000

/** The file of a saved session. */
export const savedFile = (sessionId: string): string => `/saved/sessions-x/${sessionId}.jsonl`

/** How the headers of saved sessions read now; `saved` are those that were written at all. */
export interface Saved {
  readonly saved: Set<string>
  readonly spoilt: Map<string, Header>
}

/** The identity of a process of this world, as the product keeps it. */
export const identityOf = (
  { pid, startTicks }: { readonly pid: number; readonly startTicks: string }
): IdentifiedProcess => ({
  pid,
  startTicks,
  bootId: "boot-x",
  machineId: "machine-x",
  pidNamespace: "pid:[1]"
})

/** The multiplexer of a machine, and what procfs and Pi's folder of sessions say. `launched` is told of each launch. */
export const makeTerminals = (world: World, observer: Observer, pi: Saved, launched: () => void) => {
  const kind: MultiplexerKind = world.schedule.multiplexer
  const compares = kind === "tmux"

  const holding = (body: Body): WorldPane | undefined => {
    for (const pane of world.panes.values()) if (pane.processes.includes(body.os)) return pane
    return undefined
  }
  const muxCall = (of: MuxOperation) =>
    Effect.gen(function*() {
      observer.called(of)
      yield* world.moment(`${of} begin`)
      const fault = world.muxFault(of)
      yield* Effect.sleep(world.jitter(4))
      if (fault === "Hang") yield* Effect.sleep(1500)
      if (fault === "Stuck") yield* Effect.sleep(9000)
      return fault
    })

  /** What the command does in the multiplexer, whatever becomes of the call; tmux compares first. */
  const kill = (pane: VerifiedPane): CloseAnswer => {
    const there = world.panes.get(pane.paneId)
    if (there === undefined && !compares) return "unknown"
    if (
      there === undefined || (compares && (there.terminal !== pane.terminalId || there.firstPid !== pane.firstPid))
    ) {
      observer.mismatched(pane)
      return "mismatch"
    }
    observer.closed(there)
    world.panes.delete(there.id)
    for (const process of there.processes) {
      if (!process.ignoresHangup) world.machine.after(world.jitter(60), () => world.end(process))
    }
    world.happen("close effect")
    return "closed"
  }

  const header = (file: string, sessionId: string): Header => {
    if (file !== savedFile(sessionId)) return "wrong"
    return pi.spoilt.get(sessionId) ?? (pi.saved.has(sessionId) ? "right" : "absent")
  }
  const of = (body: Body) => {
    const verify = (identity: PaneIdentity): Effect.Effect<VerifiedPane, IdentityFailed> =>
      Effect.gen(function*() {
        const began = observer.verifying(header(savedFile(identity.sessionId), identity.sessionId))
        const fault = yield* muxCall("verify")
        if (fault === "Fail") return yield* unverified("the multiplexer did not answer")
        const own = holding(body)
        const pane = world.panes.get(identity.paneId)
        const process = world.processes.get(identity.pid)
        if (own === undefined || own.id === identity.paneId || identity.sessionId === body.sessionId) {
          return yield* unverified("it is this session's own pane")
        }
        if (
          pane === undefined || pane.terminal !== identity.terminalId || pane.workspace !== identity.workspaceId ||
          pane.workspace !== own.workspace
        ) return yield* unverified("the pane is another one now")
        if (process === undefined || process.startTicks !== identity.processStart || !process.alive) {
          return yield* unverified("its process has ended")
        }
        if (process.unknownUntil > world.machine.now()) return yield* unverified("procfs cannot be read")
        if (!pane.processes.includes(process)) return yield* unverified("another process is in the pane")
        const verified: VerifiedPane = {
          workspaceId: pane.workspace,
          paneId: pane.id,
          terminalId: pane.terminal,
          firstPid: compares ? pane.firstPid : undefined
        }
        observer.verified(body, verified, process, identity.sessionId, began)
        yield* world.moment("verify back")
        return verified
      })

    const close = <E>(pane: VerifiedPane, last: Effect.Effect<void, E>): Effect.Effect<CloseAnswer, E> =>
      Effect.gen(function*() {
        observer.called("close")
        yield* world.moment("close begin")
        const fault = world.muxFault("close")
        yield* Effect.sleep(world.jitter(2))
        return yield* Effect.uninterruptible(Effect.gen(function*() {
          // What is due next shows whether `last` waited: then this is not one step.
          let together = true
          const stop = world.machine.after(0, () => (together = false))
          yield* last
          stop()
          if (!together) world.fail("the last look waited: it and the command are not one step")
          if (fault === "NotStarted") return "not_started" as const
          observer.spawned(body, pane)
          const answer: { is: CloseAnswer } = { is: "unknown" }
          if (fault !== "NoEffect") {
            const after = fault === "TooLate" ? 2300 : fault === "Hang" ? 1200 : world.jitter(3)
            world.machine.after(after, () => (answer.is = kill(pane)))
          }
          yield* world.moment("close back")
          yield* Effect.sleep(fault === "TooLate" || fault === "NoEffect" || fault === "Hang" ? 2000 : 5)
          return fault === undefined || fault === "Hang" ? answer.is : "unknown"
        }))
      })

    const own: Multiplexer = {
      ...none,
      kind,
      launch: () =>
        Effect.gen(function*() {
          yield* Effect.sleep(world.jitter(5))
          const answer: Launched = {
            multiplexer: kind,
            tab: "tab-y",
            pane: "pane-y",
            trace: formatTrace({ multiplexer: kind, workspaceId: "workspace-y", paneId: "pane-y" })
          }
          launched()
          return answer
        }),
      title: () => Effect.void,
      identify: Effect.gen(function*() {
        const fault = yield* muxCall("identify")
        const pane = holding(body)
        if (fault === "Fail" || pane === undefined) return yield* unverified("the multiplexer does not know this pane")
        yield* world.moment("identify back")
        return { workspaceId: pane.workspace, paneId: pane.id, terminalId: pane.terminal }
      }),
      verify,
      canClose: true,
      close,
      isGone: (pane) =>
        Effect.gen(function*() {
          const fault = yield* muxCall("gone")
          const gone = !world.panes.has(pane.paneId)
          yield* world.moment("gone back")
          return fault !== "Fail" && gone
        })
    }

    const processes = ProcessIdentity.of({
      own: identityOf(body.os),
      look: (process) =>
        Effect.sync(() => {
          const there = world.processes.get(process.pid)
          const known = "startTicks" in process && process.bootId === "boot-x" && process.machineId === "machine-x" &&
            process.pidNamespace === "pid:[1]"
          if (!known || (there?.unknownUntil ?? -1) > world.machine.now()) return "unknown"
          return there !== undefined && there.alive && there.startTicks === process.startTicks ? "alive" : "gone"
        }),
      facts: (pid) =>
        Effect.suspend(() => {
          const there = world.processes.get(pid)
          return there === undefined || !there.alive || there.unknownUntil > world.machine.now()
            ? unverified("procfs cannot tell")
            : Effect.succeed({
              startTicks: there.startTicks,
              state: "S",
              session: pid,
              tty: { major: 136, minor: pid % 1000 },
              uid
            })
        }),
      environment: () => Effect.succeed(Option.none()),
      deviceOf: () => unverified("a simulated terminal")
    })

    return Context.make(Multiplexers, {
      of: () => own,
      own: Option.some(own),
      gone: (trace) => Effect.sync(() => parseTrace(trace) === undefined),
      here: Effect.succeed(kind),
      title: () => Effect.void
    }).pipe(
      Context.add(ProcessIdentity, processes),
      Context.add(SavedSessions, {
        find: (_, sessionId) =>
          pi.saved.has(sessionId)
            ? Effect.succeed(savedFile(sessionId))
            : new SessionNotSaved({ reason: "absent", detail: `the session of ${root} is not saved` }),
        header: (file, sessionId) => Effect.sync(() => header(file, sessionId))
      })
    )
  }

  return { of, holding }
}
