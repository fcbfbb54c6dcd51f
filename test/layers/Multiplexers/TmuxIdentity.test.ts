import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import type { IdentifiedProcess, Liveness } from "../../../src/domain/IdentifiedProcess.ts"
import { IdentityFailed } from "../../../src/domain/Pane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { decodeDevice, type Device, type ProcessFacts } from "../../../src/domain/ProcessFacts.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import * as StateMemory from "../../support/StateMemory.ts"

const ada = SessionId.make("ada")
const viewpoint = { bootId: "boot", machineId: "machine", pidNamespace: "pid:[1]" }
const server = "tmux:77:1000:boot:machine:pid:[1]"
const traceOf = (pane: string, workspace = server) => `tmux ${workspace} ${pane}`

const own = "77|0|%3|@1|$1|80|/dev/pts/1|3.3a\n"
const worker = "77|0|%4|@2|$1|100|/dev/pts/2|3.3a\n"
const neighbour = "77|0|%5|@2|$1|120|/dev/pts/3|3.3a\n"

const factsOf = (
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
interface World {
  readonly list: Behaviour
  readonly facts: Readonly<Record<number, ProcessFacts>>
  readonly devices: Readonly<Record<string, Device>>
  readonly variables: Readonly<Record<string, string>>
  readonly own: IdentifiedProcess
  readonly look: (process: IdentifiedProcess, time: number) => Liveness
}
const facts = {
  77: factsOf(77, 0, "1000", { tty: decodeDevice(0) }),
  90: factsOf(80, 1, "2000"),
  100: factsOf(100, 2, "3000"),
  101: factsOf(100, 2, "3100"),
  120: factsOf(120, 3, "4000")
}
const world: World = {
  list: { stdout: own + worker + neighbour },
  facts,
  devices: Object.fromEntries([1, 2, 3].map((tty) => [`/dev/pts/${tty}`, decodeDevice(136 << 8 | tty)])),
  variables: { TMUX: "/tmp/s,77,1", TMUX_PANE: "%3" },
  own: { pid: 90, startTicks: "2000", ...viewpoint },
  look: () => "alive"
}
const claim: PaneIdentity = {
  workspaceId: "tmux:77:1000",
  paneId: "%4",
  terminalId: "/dev/pts/2",
  sessionId: SessionId.make("ben"),
  sessionFile: "/s/ben.jsonl",
  pid: 100,
  processStart: "3000"
}

const inWorld = (change: Partial<World>) => {
  const it = { ...world, ...change }
  const script = scripted((command) => command.args[3] === "list-panes" ? it.list : { stdout: "%9|@7\n" })
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
    Layer.provide([script.layer, processes, platformAs("linux"), StateMemory.layer, IdsTest.layer]),
    Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(it.variables)))))
  )
  const run = <A, E>(use: (all: typeof Multiplexers.Service) => Effect.Effect<A, E>) =>
    Effect.provide(Effect.flatMap(Multiplexers, use), layer)
  return {
    script,
    identify: run((all) => all.of("tmux").identify),
    verify: (claimed: Partial<PaneIdentity> = {}) => run((all) => all.of("tmux").verify({ ...claim, ...claimed }, ada)),
    gone: (trace: string) => run((all) => all.gone(trace)),
    launch: run((all) => all.of("tmux").launch({ root: "/", argv: ["pi"], directory: process.cwd(), environment: {} }))
  }
}

const says = (detail: string) => `The pane could not be verified: ${detail}.`
const notHere = (detail: string) =>
  says(`this session does not run in the tmux pane that its environment names: ${detail}`)
const stdout = (text: string): Partial<World> => ({ list: { stdout: text } })

/** What keeps this session from knowing its own place: neither itself nor any other pane can be told. */
const lost: ReadonlyArray<readonly [string, Partial<World>, string]> = [
  [
    "outside tmux",
    { variables: {} },
    says("this session does not run inside tmux; start tmux, open this session in it")
  ],
  [
    "a server that does not answer by an answer",
    { list: { code: 1, stderr: "lost server\n" } },
    says(
      "the tmux server that this session was started in is not running any more; start tmux again and open this session in it"
    )
  ],
  [
    "a list that is cut",
    stdout(own + worker + neighbour.slice(0, -1)),
    says(
      "tmux listed its panes in a form that cannot be read"
    )
  ],
  [
    "its own pane gone",
    stdout(worker),
    says(
      "this session's tmux pane %3 is not there any more; open this session in a tmux pane"
    )
  ],
  [
    "an empty list",
    stdout(""),
    says(
      "this session's tmux pane %3 is not there any more; open this session in a tmux pane"
    )
  ],
  [
    "another server at the socket",
    stdout((own + worker).replaceAll(/^77/gm, "78")),
    says(
      "the tmux server that this session was started in is gone and another one has its socket; open this session in that one"
    )
  ],
  [
    "rows of two servers",
    stdout(own + worker + neighbour.replace("77", "78")),
    notHere(
      "it belongs to another tmux server than this session"
    )
  ],
  [
    "its own rows at odds",
    stdout(own + own.replace("$1|80", "$2|81") + worker),
    notHere(
      "tmux says different things of it"
    )
  ],
  ["a server that cannot be looked at", { facts: { 90: facts[90], 100: facts[100] } }, notHere("nothing is known")],
  [
    "a server that has ended",
    { facts: { ...facts, 77: { ...facts[77], state: "Z" } } },
    notHere(
      "its tmux server has ended"
    )
  ],
  ["its own process unknown", { facts: { 77: facts[77], 100: facts[100] } }, notHere("nothing is known")],
  [
    "its own process in another terminal",
    { facts: { ...facts, 90: factsOf(80, 2, "2000") } },
    notHere(
      "its process runs in another terminal"
    )
  ],
  [
    "its own process without a terminal",
    { facts: { ...facts, 90: { ...facts[90], tty: decodeDevice(0) } } },
    notHere(
      "its process runs in another terminal"
    )
  ],
  [
    "its own process in another session",
    { facts: { ...facts, 90: factsOf(90, 1, "2000") } },
    notHere(
      "its process does not belong to what runs in that pane"
    )
  ],
  [
    "another pid namespace than the server's",
    { facts: { ...facts, 90: factsOf(0, 1, "2000") } },
    notHere(
      "its process does not belong to what runs in that pane"
    )
  ],
  ["its own terminal unknown", { devices: {} }, notHere("nothing is known")]
]

/** What speaks against closing the worker's pane. */
const refusals: ReadonlyArray<readonly [string, Partial<World>, Partial<PaneIdentity>, string]> = [
  ["this session's own pane", {}, { paneId: "%3", terminalId: "/dev/pts/1" }, "it is this session's own pane"],
  ["this session's terminal", {}, { terminalId: "/dev/pts/1" }, "it is this session's own pane"],
  ["this session's process", {}, { pid: 90, processStart: "2000" }, "its process is this session's own"],
  ["this session's id", {}, { sessionId: ada }, "its session is this one"],
  [
    "another user's process",
    { facts: { ...facts, 100: { ...facts[100], uid: 0 } } },
    {},
    "its process belongs to another user"
  ],
  [
    "a pid given out again",
    { facts: { ...facts, 100: { ...facts[100], startTicks: "3001" } } },
    {},
    "its process has ended"
  ],
  ["a process that ended", { facts: { ...facts, 100: { ...facts[100], state: "Z" } } }, {}, "its process has ended"],
  ["a process that cannot be looked at", { facts: { 77: facts[77], 90: facts[90] } }, {}, "nothing is known"],
  [
    "a pane of another server",
    {},
    { workspaceId: "tmux:77:999" },
    "it belongs to another tmux server than this session"
  ],
  ["a pane of nothing", {}, { workspaceId: "" }, "it belongs to another tmux server than this session"],
  ["a pane that is gone", stdout(own + neighbour), {}, "tmux has no such pane any more"],
  ["a pane by another name", {}, { paneId: "" }, "tmux has no such pane any more"],
  ["rows at odds", stdout(own + worker + worker.replace("$1|100", "$2|101")), {}, "tmux says different things of it"],
  ["a dead pane", stdout(own + worker.replace("|0|", "|1|")), {}, "its program has ended"],
  ["a pane without a program", stdout(own + "77|0|%4|@2|$1|0||3.3a\n"), {}, "its program has ended"],
  [
    "a respawned pane in another terminal",
    stdout(own + "77|0|%4|@2|$1|140|/dev/pts/4|3.3a\n"),
    {},
    "it has another terminal now"
  ],
  [
    "a respawned pane in the same terminal",
    stdout(own + worker.replace("|100|", "|140|")),
    {},
    "its process does not belong to what runs in that pane"
  ],
  ["a terminal that is none", { devices: { "/dev/pts/1": decodeDevice(136 << 8 | 1) } }, {}, "nothing is known"],
  [
    "a process that left the session",
    { facts: { ...facts, 100: factsOf(99, 2, "3000") } },
    {},
    "its process does not belong to what runs in that pane"
  ],
  [
    "a process that left the terminal",
    { facts: { ...facts, 100: { ...facts[100], tty: decodeDevice(0) } } },
    {},
    "its process runs in another terminal"
  ],
  ["another pane's process", {}, { pid: 120, processStart: "4000" }, "its process runs in another terminal"],
  [
    "a pane of another session",
    stdout(own + worker.replace("$1", "$2")),
    {},
    "it is not in this session's tmux session"
  ],
  [
    "a pane of the other session of ours",
    stdout(own + own.replace("$1", "$2") + worker.replace("$1", "$2")),
    {},
    "it is not in this session's tmux session"
  ]
]

describe("tmux panes, scripted", () => {
  it.effect("this session's pane, by one call", () =>
    Effect.gen(function*() {
      const { identify, script } = inWorld({})
      const pane = { workspaceId: "tmux:77:1000", paneId: "%3", terminalId: "/dev/pts/1" }
      assert.deepStrictEqual(yield* identify, pane)
      assert.strictEqual(script.calls.length, 1)
      const moved = inWorld(stdout(worker + own.replace("$1", "$7").replace("@1", "@9")))
      assert.deepStrictEqual(yield* moved.identify, pane)
    }))

  it.effect("a worker's pane, by one call: its first process or any of its session, in any of our sessions", () =>
    Effect.gen(function*() {
      const { script, verify } = inWorld({})
      yield* verify()
      assert.strictEqual(script.calls.length, 1)
      yield* verify({ pid: 101, processStart: "3100" })
      const grouped = own + own.replace("$1", "$2") + worker.replace("$1", "$2") + worker
      yield* inWorld(stdout(grouped)).verify()
      // This session's pane was moved away from where it was opened, the worker's with it.
      yield* inWorld(stdout((own + worker).replaceAll("$1", "$4"))).verify()
      yield* inWorld({ facts: { ...facts, 100: { ...facts[100], state: "T" } } }).verify()
    }))

  for (const [when, change, message] of lost) {
    it.effect(`nothing is known with ${when}`, () =>
      Effect.gen(function*() {
        const { gone, identify, launch, verify } = inWorld(change)
        assert.strictEqual((yield* Effect.flip(identify)).message, message)
        assert.strictEqual((yield* Effect.flip(verify())).message, message)
        const launched = yield* Effect.option(launch)
        assert.isFalse(Option.isSome(launched) && "trace" in launched.value)
        if (!message.includes("its environment names")) assert.isFalse(yield* gone(traceOf("%6")))
      }))
  }

  for (const [when, change, claimed, detail] of refusals) {
    it.effect(`refused: ${when}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(inWorld(change).verify(claimed))
        assert.strictEqual(error.message, says(detail))
      }))
  }

  it.effect("a line of the list that is not whole lets nothing be verified or gone", () =>
    Effect.gen(function*() {
      for (
        const line of [
          "\n",
          "%4\n",
          worker.replace("%4", ""),
          worker.replace("|0|", "||"),
          worker.replace("@2", "2"),
          worker.slice(3)
        ]
      ) {
        for (const text of [own + worker + line, line + own + worker, own + line]) {
          const { gone, verify } = inWorld(stdout(text))
          const error = yield* Effect.flip(verify())
          assert.strictEqual(error.message, says("tmux listed its panes in a form that cannot be read"))
          assert.isFalse(yield* gone(traceOf("%4")))
        }
      }
    }))

  it.effect("a server that hangs is unknown after 4 s", () =>
    Effect.gen(function*() {
      const { gone, verify } = inWorld({ list: { takes: "forever" } })
      const asked = yield* Effect.fork(Effect.all([Effect.flip(verify()), gone(traceOf("%6"))], { concurrency: 2 }))
      yield* TestClock.adjust("3999 millis")
      assert.isNull(asked.unsafePoll())
      yield* TestClock.adjust("1 millis")
      const [error, isGone] = yield* Fiber.join(asked)
      assert.strictEqual(error.message, says("tmux did not answer in time and was ended"))
      assert.isFalse(isGone)
    }))
})

describe("whether a tmux pane is gone, scripted", () => {
  it.effect("a launch says by what its pane is recognised", () =>
    Effect.gen(function*() {
      const { launch, script } = inWorld({})
      assert.deepStrictEqual(yield* launch, { multiplexer: "tmux", tab: "@7", pane: "%9", trace: traceOf("%9") })
      assert.strictEqual(script.calls.length, 2)
    }))

  it.effect("where only pids are known a launch has no trace", () =>
    Effect.gen(function*() {
      assert.notProperty(yield* inWorld({ own: { pid: 90 } }).launch, "trace")
    }))

  it.effect("while its server lives: when that very server lists its panes without it", () =>
    Effect.gen(function*() {
      const { gone, script } = inWorld({})
      assert.isTrue(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 1)
      for (const pane of ["%3", "%4", "%5"]) assert.isFalse(yield* gone(traceOf(pane)), pane)
      // In another session, in another window, dead, or respawned it is there all the same.
      for (const text of [worker.replace("$1", "$2"), worker.replace("|0|", "|1|"), worker.replace("|100|", "|140|")]) {
        assert.isFalse(yield* inWorld(stdout(own + text)).gone(traceOf("%4")), text)
      }
    }))

  it.effect("another server, even with its pid, says nothing of it", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* inWorld({}).gone(traceOf("%6", server.replace("77", "78"))))
      // Between the first look and the answer it ended, and another one got its pid.
      const looks: ReadonlyArray<Liveness> = ["alive", "gone"]
      const { gone, script } = inWorld({ look: (_, time) => looks[time] ?? "unknown" })
      assert.isFalse(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 1)
    }))

  it.effect("its server proven gone, whatever answers at the socket", () =>
    Effect.gen(function*() {
      const asked: Array<IdentifiedProcess> = []
      const look = (process: IdentifiedProcess): Liveness => {
        asked.push(process)
        return "gone"
      }
      for (
        const list of [world.list, { code: 1, stderr: "no server running on /tmp/s\n" }, { fails: "missing" as const }]
      ) {
        const { gone, script } = inWorld({ look, list })
        // The new server gives out the same ids again.
        assert.isTrue(yield* gone(traceOf("%4")))
        assert.strictEqual(script.calls.length, 0)
      }
      assert.deepStrictEqual(asked[0], { pid: 77, startTicks: "1000", ...viewpoint })
      assert.isTrue(yield* inWorld({ look, variables: {} }).gone(traceOf("%4")))
    }))

  it.effect("no server and no answer prove nothing by themselves", () =>
    Effect.gen(function*() {
      const lists: ReadonlyArray<Behaviour> = [
        { code: 1, stderr: "no server running on /tmp/s\n" },
        { code: 1, stderr: "error connecting to /tmp/s (No such file or directory)\n" },
        { code: 1, stderr: "" },
        { fails: "missing" },
        { fails: "signal" },
        { stdout: "" },
        { stdout: worker }
      ]
      for (const list of lists) {
        for (const liveness of ["alive", "unknown"] as const) {
          assert.isFalse(yield* inWorld({ list, look: () => liveness }).gone(traceOf("%6")), JSON.stringify(list))
        }
      }
      const { gone, script } = inWorld({ look: () => "unknown" })
      assert.isFalse(yield* gone(traceOf("%6")))
      assert.strictEqual(script.calls.length, 0)
      assert.isFalse(yield* inWorld({ variables: {} }).gone(traceOf("%6")))
    }))

  it.effect("what is no trace of tmux is not gone, and nothing is asked", () =>
    Effect.gen(function*() {
      const { gone, script } = inWorld({ look: () => "gone" })
      const traces = [
        "",
        "tmux",
        `tmux ${server}`,
        `tmux  ${server} %6`,
        `tmux ${server} %6 `,
        traceOf("%6", "tmux:77:1000"),
        traceOf("%6", server.replace("77", "0")),
        traceOf("%6", server.replace("1000", "x")),
        traceOf("%6", server.replace(":boot", ":")),
        `none ${server} %6`,
        `TMUX ${server} %6`
      ]
      for (const trace of traces) assert.isFalse(yield* gone(trace), trace)
      assert.strictEqual(script.calls.length, 0)
    }))
})
