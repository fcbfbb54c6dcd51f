import { assert } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readFileSync } from "node:fs"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import type { MonitorRequest } from "../../../src/domain/MonitorPane.ts"
import type { VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { isSameDevice } from "../../../src/domain/ProcessFacts.ts"
import * as Node from "../../../src/layers/CommandRunner/Node.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { eventually, eventuallyTrue } from "../../support/Eventually.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { isRunning } from "../../support/Processes.ts"
import * as StateMemory from "../../support/StateMemory.ts"
import { type RealTmux, realTmux } from "../../support/Tmux.ts"

/** The real processes of this machine. */
export const machine = Layer.provide(Procfs.layer, Platform.layer)
/** The session that asks. */
export const ada = SessionId.make("ada")
/** A script that stays. */
export const stay = "exec sleep 86400"

/** A pane and its first process. */
export interface Opened {
  readonly pane: string
  readonly pid: number
  readonly tty: string
}
const ids = "#{pane_id}|#{pane_pid}|#{pane_tty}"

/** Reads `ids`, and waits for the terminal: a pane's process has it a moment after tmux names it. */
const opened = (answer: string) =>
  Effect.gen(function*() {
    const { deviceOf, facts } = yield* ProcessIdentity
    const [pane = "", pid = "", tty = ""] = answer.trim().split("|")
    const device = yield* deviceOf(tty)
    yield* eventuallyTrue("its terminal", Effect.map(facts(Number(pid)), (seen) => isSameDevice(seen.tty, device)))
    return { pane, pid: Number(pid), tty }
  }).pipe(Effect.provide(machine))

/** A new pane that runs a shell script. */
export const open = (tmux: RealTmux, script = stay, target = "anchor:") =>
  Effect.flatMap(
    tmux.run(["new-window", "-d", "-P", "-F", ids, "-t", target, "--", "/bin/sh", "-c", script]),
    opened
  )
/** What tmux says now of a pane. */
export const whatIs = (tmux: RealTmux, pane: string) =>
  Effect.flatMap(tmux.run(["display-message", "-p", "-t", pane, ids]), opened)

/** When a process started. */
export const startOf = (pid: number) =>
  Effect.flatMap(ProcessIdentity, ({ facts }) => Effect.map(facts(pid), (seen) => seen.startTicks)).pipe(
    Effect.provide(machine)
  )

/** The multiplexers as the first process of a pane has them: all is real but that this test looks in its place. */
export const from = (tmux: Pick<RealTmux, "socket">, { pane, pid }: Opened, serverPid: number) => {
  const processes = Layer.provide(
    Layer.effect(
      ProcessIdentity,
      Effect.gen(function*() {
        const real = yield* ProcessIdentity
        const { startTicks } = yield* Effect.orDie(real.facts(pid))
        assert("bootId" in real.own)
        return { ...real, own: { ...real.own, pid, startTicks } }
      })
    ),
    machine
  )
  const variables = new Map([["TMUX", `${tmux.socket},${serverPid},0`], ["TMUX_PANE", pane]])
  const layer = Live.layer.pipe(
    Layer.provide([processes, Node.layer, Platform.layer, StateMemory.layer, IdsTest.layer]),
    Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(variables)))
  )
  const run = <A, E>(use: (all: typeof Multiplexers.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(Multiplexers, use), layer)
  return {
    identify: run((all) => all.of("tmux").identify),
    verify: (claim: PaneIdentity) => run((all) => all.of("tmux").verify(claim, ada)),
    close: <E = never>(pane: VerifiedPane, last: Effect.Effect<void, E> = Effect.void) =>
      run((all) => all.of("tmux").close(pane, last)),
    gone: (trace: string) => run((all) => all.gone(trace)),
    placeMonitor: (request: MonitorRequest) => run((all) => all.of("tmux").placeMonitor(request)),
    /** A worker's pane, launched as the product does; the trace is what the ledger would hold. */
    launch: Effect.gen(function*() {
      const launched = yield* run((all) =>
        all.of("tmux").launch({ root: "/", argv: ["sleep", "86400"], directory: "/", environment: {} })
      )
      assert(launched.trace !== undefined)
      return { pane: launched.pane, trace: launched.trace }
    })
  }
}

/** A server, and this session in its first pane. */
export const team = Effect.gen(function*() {
  const tmux = yield* realTmux()
  const own = yield* whatIs(tmux, tmux.variables.TMUX_PANE)
  const here = from(tmux, own, tmux.serverPid)
  const { workspaceId } = yield* here.identify
  /** What the process of a pane would say of itself. */
  const claim = (worker: Opened, pid = worker.pid) =>
    Effect.map(startOf(pid), (processStart): PaneIdentity => ({
      workspaceId,
      paneId: worker.pane,
      terminalId: worker.tty,
      sessionId: SessionId.make("ben"),
      sessionFile: "/s/ben.jsonl",
      pid,
      processStart
    }))
  const refusal = (claimed: PaneIdentity) => Effect.map(Effect.flip(here.verify(claimed)), ({ detail }) => detail)
  return { ...here, tmux, own, claim, refusal }
})

/** The children of a shell that runs in a pane, by what they run. */
export const child = (tmux: RealTmux, command: string) =>
  eventually(
    `the process ${command}`,
    Effect.map(tmux.processes, (pids) =>
      Option.fromNullable(pids.find((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, "latin1") === `${command.replaceAll(" ", "\0")}\0`
      )))
  )

/** Waits for the end of a process. */
export const ended = (pid: number) => eventuallyTrue(`the end of ${pid}`, Effect.sync(() => !isRunning(pid)))
