import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import type { IdentifiedProcess, Liveness } from "../../../src/domain/IdentifiedProcess.ts"
import { IdentityFailed } from "../../../src/domain/Pane.ts"
import type { VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { decodeDevice, type Device, type ProcessFacts } from "../../../src/domain/ProcessFacts.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import type { Platform } from "../../../src/services/Platform.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import * as StateMemory from "../../support/StateMemory.ts"

/** The session that asks. */
export const ada = SessionId.make("ada")
/** The machine and boot of everything here. */
export const viewpoint = { bootId: "boot", machineId: "machine", pidNamespace: "pid:[1]" }
/** The server as traces have it. */
export const server = "tmux:77:1000:boot:machine:pid:[1]"
export const traceOf = (pane: string, workspace = server) => `tmux ${workspace} ${pane}`

/** Rows of `list-panes`: of this session's pane, of the worker's and of another one. */
export const own = "77|0|%3|@1|$1|80|/dev/pts/1|3.3a\n"
export const worker = "77|0|%4|@2|$1|100|/dev/pts/2|3.3a\n"
export const neighbour = "77|0|%5|@2|$1|120|/dev/pts/3|3.3a\n"

export const factsOf = (
  session: number,
  tty: number,
  startTicks: string,
  change: Partial<ProcessFacts> = {}
): ProcessFacts => ({
  startTicks,
  state: "S",
  session,
  tty: decodeDevice(136 << 8 | tty),
  uid: 1000,
  ...change
})

/** A machine with a tmux server, this session's Pi (90, below the shell 80 of %3) and a worker's (100, first in %4). */
export interface World {
  readonly list: Behaviour
  /** The close command. */
  readonly closing: Behaviour
  readonly os: Platform["Type"]["os"]
  readonly facts: Readonly<Record<number, ProcessFacts>>
  readonly devices: Readonly<Record<string, Device>>
  readonly variables: Readonly<Record<string, string>>
  readonly own: IdentifiedProcess
  readonly look: (process: IdentifiedProcess, time: number) => Liveness
}
export const facts = {
  77: factsOf(77, 0, "1000", { tty: decodeDevice(0) }),
  90: factsOf(80, 1, "2000"),
  100: factsOf(100, 2, "3000"),
  101: factsOf(100, 2, "3100"),
  120: factsOf(120, 3, "4000")
}
export const world: World = {
  list: { stdout: own + worker + neighbour },
  closing: { stdout: "closed\n" },
  os: "linux",
  facts,
  devices: Object.fromEntries([1, 2, 3].map((tty) => [`/dev/pts/${tty}`, decodeDevice(136 << 8 | tty)])),
  variables: { TMUX: "/tmp/s,77,1", TMUX_PANE: "%3" },
  own: { pid: 90, startTicks: "2000", ...viewpoint },
  look: () => "alive"
}
/** What the worker says of itself. */
export const claim: PaneIdentity = {
  workspaceId: "tmux:77:1000",
  paneId: "%4",
  terminalId: "/dev/pts/2",
  sessionId: SessionId.make("ben"),
  sessionFile: "/s/ben.jsonl",
  pid: 100,
  processStart: "3000"
}

/** The multiplexers in such a world, and the calls that tmux got. */
export const inWorld = (change: Partial<World>) => {
  const it = { ...world, ...change }
  const answers: Readonly<Record<string, Behaviour>> = { "list-panes": it.list, "if-shell": it.closing }
  const script = scripted((command) => answers[command.args[3] ?? ""] ?? { stdout: "%9|@7\n" })
  let looks = 0
  const known = <A>(value: A | undefined) =>
    value === undefined ? Effect.fail(new IdentityFailed({ detail: "nothing is known" })) : Effect.succeed(value)
  const processes = Layer.succeed(ProcessIdentity, {
    own: it.own,
    look: (process) => Effect.sync(() => it.look(process, looks++)),
    facts: (pid) => known(it.facts[pid]),
    environment: () => Effect.succeed(Option.none()),
    deviceOf: (path) => known(it.devices[path])
  })
  const layer = Live.layer.pipe(
    Layer.provide([script.layer, processes, platformAs(it.os), StateMemory.layer, IdsTest.layer]),
    Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(it.variables)))))
  )
  const run = <A, E>(use: (all: typeof Multiplexers.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(Multiplexers, use), layer)
  return {
    script,
    identify: run((all) => all.of("tmux").identify),
    verify: (claimed: Partial<PaneIdentity> = {}) => run((all) => all.of("tmux").verify({ ...claim, ...claimed }, ada)),
    close: <E = never>(pane: VerifiedPane, last: Effect.Effect<void, E> = Effect.void) =>
      run((all) => all.of("tmux").close(pane, last)),
    isGone: (pane: VerifiedPane) => run((all) => all.of("tmux").isGone(pane)),
    canClose: run((all) => Effect.succeed(all.of("tmux").canClose)),
    gone: (trace: string) => run((all) => all.gone(trace)),
    launch: run((all) => all.of("tmux").launch({ root: "/", argv: ["pi"], directory: process.cwd(), environment: {} }))
  }
}
