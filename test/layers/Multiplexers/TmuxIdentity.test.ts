import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import { decodeDevice } from "../../../src/domain/ProcessFacts.ts"
import { ada, facts, factsOf, inWorld, neighbour, own, traceOf, worker, type World } from "./TmuxWorld.ts"

const says = (detail: string) => `The pane could not be verified: ${detail}.`
const notHere = (detail: string) =>
  says(`this session does not run in the tmux pane that its environment names: ${detail}`)
const stdout = (text: string): Partial<World> => ({ list: { stdout: text } })

/** What keeps this session from knowing its own place: neither itself nor any other pane can be told. */
const lost: ReadonlyArray<readonly [string, Partial<World>, string]> = [
  [
    "outside tmux",
    { variables: {} },
    says(
      "this session does not run inside tmux; start tmux and open this session in it, or choose the multiplexer that it runs in with intercom_set_multiplexer"
    )
  ],
  [
    "a server that does not answer by an answer",
    { list: { code: 1, stderr: "lost server\n" } },
    says("the tmux server ended while it was asked")
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
