import type { SessionEntry } from "@earendil-works/pi-coding-agent"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NotTaken } from "../../../src/domain/SessionErrors.ts"
import * as WorkWitness from "../../../src/layers/HostSession/WorkWitness.ts"
import * as HostWorkPi from "../../../src/layers/HostWork/Pi.ts"
import { HostSession } from "../../../src/services/HostSession.ts"
import { HostTools } from "../../../src/services/HostTools.ts"
import { HostWork } from "../../../src/services/HostWork.ts"
import { toolResult } from "../HostSimulated.ts"
import type { Observer } from "./Observer.ts"
import { savedFile } from "./Terminals.ts"
import type { Body, World } from "./World.ts"

/** What a model does with a text: calls that end, one after another, and then its turn ends. */
export type Model = (text: string, pi: Pi) => ReadonlyArray<ModelStep>
export interface ModelStep {
  readonly afterMs: number
  /** Begins something; `done` when it has its result. None: it only takes its time. */
  readonly act?: (done: () => void) => () => void
}

/** The Pi of a session in one process: what it is doing, as its events and its context say (facts/pi). */
export interface Pi {
  readonly witness: WorkWitness.WorkWitness
  /** The branch of the session, which outlives the process. */
  readonly branch: Array<SessionEntry>
  readonly idle: () => boolean
  /** Nothing runs and nothing is about to. */
  readonly quiet: () => boolean
  /** A text comes in. */
  readonly input: (source: "interactive" | "extension", text: string) => void
  readonly abort: () => void
  /** The extension is loaded anew, by another Pi object: this one does nothing any more. */
  readonly leave: () => void
  /** A manual compaction; answers what ends it. */
  readonly compact: () => () => void
  /** It takes no texts until then. */
  deafUntil: number
  readonly context: Context.Context<HostSession | HostTools | HostWork>
}

/** What of a body its Pi needs. */
export const makePi = (
  world: World,
  observer: Observer,
  body: Body,
  branch: Array<SessionEntry>,
  model: Model,
  confirm: (title: string, question: string) => boolean,
  settled: () => void
): Pi => {
  const { machine } = world
  const witness = WorkWitness.make()
  const queue: Array<string> = []
  const turn = Effect.unsafeMakeSemaphore(1)
  let starting = false
  let running = false
  let compacting = false
  let over = false
  /** Ends what the model is at. */
  let stop: () => void = () => undefined

  const later = (millis: number, run: () => void) =>
    machine.after(millis, () => {
      if (body.step.alive() && !over) run()
    })

  const settle = () => {
    running = false
    witness.see({ type: "settled", restarted: false })
    observer.settled(body)
    settled()
    world.happen("settle")
  }
  const endTurn = () => {
    const next = queue.shift()
    if (next === undefined) return settle()
    observer.input(body, "queued", next)
    witness.userMessage(next)
    take(next)
  }
  const take = (text: string) => {
    const steps = [...model(text, pi)]
    const go = () => {
      const step = steps.shift()
      if (step === undefined) {
        stop = later(world.jitter(3), endTurn)
        return
      }
      stop = later(step.afterMs, () => {
        if (step.act === undefined) return go()
        let done = false
        const end = step.act(() => {
          if (done) return
          done = true
          go()
        })
        stop = () => {
          done = true
          end()
        }
      })
    }
    go()
  }
  const start = (text: string) => {
    starting = true
    later(world.jitter(2), () => {
      witness.beforeAgentStart(text)
      later(1, () => {
        starting = false
        running = true
        observer.started(body, text)
        witness.see({ type: "agent_start" })
        witness.userMessage(text)
        take(text)
      })
    })
  }

  const input: Pi["input"] = (source, text) => {
    if (compacting) return
    observer.input(body, source, text)
    witness.input({ source, text })
    if (running || starting) queue.push(text)
    else start(text)
  }
  const takes = () => !compacting && machine.now() >= pi.deafUntil && body.step.alive() && !over

  const waitReady: Effect.Effect<void, NotTaken> = Effect.suspend(() =>
    starting ? Effect.zipRight(Effect.sleep(1), waitReady) : Effect.void
  )
  const session = HostSession.of({
    currentId: Effect.succeed(Option.some(body.sessionId)),
    directory: "/work/team",
    idle: Effect.sync(() => !running && !compacting),
    whenReady: (step) => turn.withPermits(1)(Effect.zipRight(waitReady, step)),
    deliver: (text, options) =>
      Effect.sync(() => {
        const taken = takes()
        observer.delivered(body, text, taken)
        if (!taken) return false
        if (options?.ofJob === true) witness.markOfJob(text)
        input("extension", text)
        return true
      }),
    setName: () => Effect.void,
    notify: (text) => Effect.sync(() => observer.notified(body, text)),
    status: () => Effect.void,
    confirm: (title, text) => Effect.delay(Effect.sync(() => confirm(title, text)), 3)
  })
  const work = Context.get(
    Effect.runSync(Effect.scoped(Layer.build(HostWorkPi.layer({
      isIdle: () => !running && !compacting,
      ui: { getEditorText: () => "" },
      sessionManager: { getSessionFile: () => savedFile(body.sessionId), getBranch: () => branch }
    }, witness)))),
    HostWork
  )

  const abort = () => {
    if (!running) return
    stop()
    stop = () => undefined
    queue.length = 0
    settle()
  }
  const pi: Pi = {
    witness,
    branch,
    idle: () => !running,
    quiet: () => !running && !starting && !compacting,
    input,
    abort,
    compact: () => {
      abort()
      compacting = true
      observer.epoch(body, "a compaction")
      witness.see({ type: "compaction_start", manual: true })
      return () => {
        compacting = false
        witness.see({ type: "compaction_end" })
      }
    },
    deafUntil: 0,
    leave: () => {
      abort()
      over = true
    },
    context: Context.make(HostSession, session).pipe(
      Context.add(HostTools, { activate: () => Effect.void }),
      Context.add(HostWork, work)
    )
  }
  witness.see({ type: "session_start" })
  return pi
}

/** A result on the branch. */
export const resultOf = (callId: string, isError: boolean): SessionEntry => toolResult(callId, isError)
