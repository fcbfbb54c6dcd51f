import * as Effect from "effect/Effect"
import { makeStepMachine, type StepMachine, type StepProcess } from "../StepMachine.ts"
import type { Action, Event, MuxFault, MuxOperation, NetFault, Point, Schedule, Who, WriteFault } from "./Schedule.ts"

/** The wall clock when everything begins. */
export const begin = Date.parse("2026-03-01T10:00:00.000Z")
export const root = "/work/team"

/** A process of the machine. Its numbers are such that a text which holds one shows it. */
export interface OsProcess {
  readonly pid: number
  readonly startTicks: string
  readonly ignoresHangup: boolean
  /** Its terminal, by the pane's. */
  readonly terminal: string
  alive: boolean
  /** Until then (monotonic) nothing can be told of it. */
  unknownUntil: number
}

/** A pane as it is now; another one may get its id under Herdr only. */
export interface WorldPane {
  readonly id: string
  readonly terminal: string
  workspace: string
  firstPid: number
  /** The processes of its foreground. */
  processes: ReadonlyArray<OsProcess>
}

/** One running Pi of a session: a process, in a pane, with an instance of the extension. */
export interface Body {
  readonly who: Who
  readonly sessionId: string
  /** Of all instances of the extension in this world, the how manieth. */
  readonly instance: number
  readonly os: OsProcess
  readonly step: StepProcess
}

/** What happened, counted: so that thousands of schedules can be seen to be about something. */
export type Tally = Map<string, number>

/** The machine on which a schedule is run. */
export interface World {
  readonly machine: StepMachine
  readonly schedule: Schedule
  readonly tally: Tally
  readonly panes: Map<string, WorldPane>
  readonly processes: Map<number, OsProcess>
  readonly count: (what: string) => void
  /** Keeps the first thing that never may be; what is thrown inside a fiber would not come out of it. */
  readonly fail: (what: string) => void
  readonly failed: () => string | undefined
  /** Since the close was asked for nothing counts that came before; and after the end nothing happens any more. */
  counting: boolean
  /** What the scheduled actions are done by. */
  perform: (act: Action) => void
  /** One moment between two steps: what is scheduled for it happens, and then a process that was killed goes no further. */
  readonly moment: (point: Point) => Effect.Effect<void>
  /** The same where no fiber waits. */
  readonly happen: (point: Point) => void
  readonly netFault: (kind: string) => NetFault | undefined
  readonly writeFault: (of: "write" | "ledger") => { readonly fault: WriteFault; readonly ms: number } | undefined
  readonly muxFault: (of: MuxOperation) => MuxFault | undefined
  /** A few milliseconds, the same in every run of this schedule. */
  readonly jitter: (max: number) => number
  readonly openPane: (ignoresHangup: boolean) => { readonly pane: WorldPane; readonly os: OsProcess }
  /** Ends a process, as the machine sees it. */
  readonly end: (os: OsProcess) => void
  /** What is told of the death of a process. */
  onEnd: (os: OsProcess) => void
  readonly log: Array<string>
  readonly note: (line: string) => void
}

/** The workspace that everybody starts in. */
export const workspaceOf = ({ multiplexer }: Schedule): string =>
  multiplexer === "tmux" ? "tmux:7790001:998870001" : "workspace-x"

/** An empty world. */
export const makeWorld = (schedule: Schedule, verbose = false): World => {
  const machine = makeStepMachine(begin)
  const tally: Tally = new Map()
  const panes = new Map<string, WorldPane>()
  const processes = new Map<number, OsProcess>()
  const log: Array<string> = []
  const seen = new Map<string, number>()
  let failure: string | undefined
  let made = 0
  let random = (schedule.seed * 2_654_435_761 + 12_345) >>> 0

  const count = (what: string) => void tally.set(what, (tally.get(what) ?? 0) + 1)
  const note = (line: string) => {
    if (verbose) log.push(`${String(machine.now()).padStart(7)} ${line}`)
  }
  const nth = (key: string): number => {
    if (!world.counting) return 0
    const next = (seen.get(key) ?? 0) + 1
    seen.set(key, next)
    return next
  }
  const find = <E extends Event>(test: (event: Event) => event is E): E | undefined => {
    const found = schedule.events.find(test)
    if (found !== undefined) count(`fault ${found._tag} ${"fault" in found ? found.fault : ""}`)
    return found
  }
  const scheduled = (point: Point): ReadonlyArray<Action> => {
    const now = nth(point)
    if (now === 0) return []
    return schedule.events.flatMap((event) =>
      event._tag === "on" && event.point === point && event.nth === now ? [event.act] : []
    )
  }
  const act = (acts: ReadonlyArray<Action>) => {
    for (const one of acts) world.perform(one)
  }

  const openPane = (ignoresHangup: boolean) => {
    made += 1
    const tmux = schedule.multiplexer === "tmux"
    const os: OsProcess = {
      pid: 7_700_000 + made,
      startTicks: String(998_877_000_000 + made),
      ignoresHangup,
      terminal: tmux ? `/dev/pts/9${made}1` : `terminal-x${made}`,
      alive: true,
      unknownUntil: -1
    }
    const pane: WorldPane = {
      id: tmux ? `%9${made}7` : `pane-x${made}`,
      terminal: os.terminal,
      workspace: workspaceOf(schedule),
      firstPid: 7_710_000 + made,
      processes: [os]
    }
    panes.set(pane.id, pane)
    processes.set(os.pid, os)
    return { pane, os }
  }

  const world: World = {
    machine,
    schedule,
    tally,
    panes,
    processes,
    count,
    fail: (what) => {
      failure ??= `${what} (at ${machine.now()} ms)`
      note(`VIOLATION ${what}`)
    },
    failed: () => failure,
    counting: false,
    perform: () => undefined,
    moment: (point) =>
      Effect.suspend(() => {
        const acts = scheduled(point)
        return acts.length === 0 ? Effect.void : Effect.async<void>((resume) => {
          machine.after(0, () => {
            act(acts)
            resume(Effect.void)
          })
        })
      }),
    happen: (point) => {
      const acts = scheduled(point)
      if (acts.length > 0) machine.after(0, () => act(acts))
    },
    netFault: (kind) => {
      const now = nth(`net ${kind}`)
      return find((event): event is Extract<Event, { _tag: "net" }> =>
        event._tag === "net" && event.kind === kind && event.nth === now
      )?.fault
    },
    writeFault: (of) => {
      const now = nth(`fault ${of}`)
      return find((event): event is Extract<Event, { _tag: "write" | "ledger" }> =>
        event._tag === of && event.nth === now
      )
    },
    muxFault: (of) => {
      const now = nth(`mux ${of}`)
      return find((event): event is Extract<Event, { _tag: "mux" }> =>
        event._tag === "mux" && event.of === of && event.nth === now
      )?.fault
    },
    jitter: (max) => {
      random = (random * 1_664_525 + 1_013_904_223) >>> 0
      return 1 + (random >>> 8) % max
    },
    openPane,
    end: (os) => {
      if (!os.alive) return
      os.alive = false
      for (const pane of panes.values()) pane.processes = pane.processes.filter((one) => one !== os)
      note(`process ${os.pid} ended`)
      world.onEnd(os)
    },
    onEnd: () => undefined,
    log,
    note
  }
  return world
}
