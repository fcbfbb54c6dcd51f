import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { createHash } from "node:crypto"
import type { MonitorRequest } from "../../../src/domain/MonitorPane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import { inside, panes, use } from "./TmuxScripted.ts"

const request: MonitorRequest = {
  root: "/team",
  sessionId: SessionId.make("ada"),
  argv: ["/bin/node", "/dist/monitor.cjs", "--root", "/team"],
  directory: "/team #1",
  environment: { PI_INTERCOM_ROOT: "/team" }
}
const owner = createHash("sha256").update("ada").digest("hex").slice(0, 24)

interface Told {
  /** The list that proves who asks. */
  readonly list?: Behaviour
  /** The rows about monitors, of which the first is this session's pane. */
  readonly monitors?: Behaviour
  readonly split?: Behaviour
  readonly title?: Behaviour
}
const own = "77|%3|@1|40|0|0\n"
const monitor = (pane: string, window: string) => `77|${pane}|${window}|40|0|1\n`

/** tmux as told; each call is one of its four. */
const tmux = ({ list = { stdout: panes }, monitors = { stdout: own }, split, title = {} }: Told) =>
  scripted((command) => {
    switch (command.args[3]) {
      case "list-panes":
        return command.args[6]?.includes("pane_start_command") === true ? monitors : list
      case "split-window":
        return split ?? { stdout: "%9|@1\n" }
      default:
        return title
    }
  })
const place = (
  script: ReturnType<typeof tmux>,
  variables: Readonly<Record<string, string>> = inside,
  asked = request
) => use(script, variables, Effect.flatMap(Multiplexers, (all) => all.of("tmux").placeMonitor(asked)))
const called = (script: ReturnType<typeof tmux>) => script.calls.map(({ args }) => args[3])
const looks = ["list-panes", "list-panes"]

const none = (detail: string) => `There is no monitor pane: ${detail}. Nothing was created; messages work without it.`
const alone = (detail: string, mend: string) =>
  `The monitor pane was left alone: ${detail}. Nothing was created or changed; messages work without it. ${mend}`
const begun = (detail: string, left: string) =>
  `The monitor pane could not be finished: ${detail}. ${left} may have been left behind; nothing was cleaned up and ` +
  "messages work without it. Once you have closed it, /reload makes a new one."
const gone = { code: 1, stderr: "no server running on /tmp/a,b/default\n" }
const slow = "tmux did not answer in time and was ended"
const ended = "the tmux server that this session was started in is not running any more; " +
  "start tmux again and open this session in it"
const unread = none("tmux listed its panes in a form that cannot be read, or without this session's own")
const perhaps = "A new pane in this tab"
const untitled = "it could not be titled, which it cannot once its program has ended"

/** When nothing, or not all, is done: what tmux says, the sentence, and the calls that it got. */
const refusals: ReadonlyArray<readonly [string, Told, string, ReadonlyArray<string>]> = [
  ["there is no server any more", { list: gone }, none(ended), ["list-panes"]],
  ["tmux is missing", { list: { fails: "missing" } }, none("tmux is not installed or not on PATH"), ["list-panes"]],
  [
    "the session's pane is not there",
    { list: { stdout: "77|0|%8|@1|$0|80|/dev/pts/1|3.3a\n" } },
    none("this session's tmux pane %3 is not there any more; open this session in a tmux pane"),
    ["list-panes"]
  ],
  [
    "tmux is too old",
    { list: { stdout: panes.replaceAll("3.3a", "3.1c") } },
    none("tmux 3.1c is too old: 3.2 or newer is needed"),
    ["list-panes"]
  ],
  ["the second list fails", { monitors: gone }, none(ended), looks],
  ["the second list is empty", { monitors: {} }, unread, looks],
  ["a row is garbled", { monitors: { stdout: `${own}77|%4|@1|40|\n` } }, unread, looks],
  ["the session's pane is gone meanwhile", { monitors: { stdout: monitor("%4", "@1") } }, unread, looks],
  ["another server answers", { monitors: { stdout: `${own}78|%4|@1|40|0|1\n` } }, unread, looks],
  [
    "the monitor is in another window",
    { monitors: { stdout: own + monitor("%4", "@2") } },
    alone(
      "it is the pane %4, which is in another tab than this session, @2",
      "Move it back or close it; then run /reload."
    ),
    looks
  ],
  [
    "there are two of them",
    { monitors: { stdout: own + monitor("%4", "@1") + monitor("%4", "@1") + monitor("%5", "@2") } },
    alone(
      "there is more than one, %4 and %5",
      "Close all but one of them, which has to be in this session's tab; then run /reload."
    ),
    looks
  ],
  [
    "the window has 11 rows",
    { monitors: { stdout: own.replace("40", "11") } },
    none("this tab has 11 rows, and it needs 12; make the terminal higher and run /reload"),
    looks
  ],
  [
    "there is no room beside the pane",
    { split: { code: 1, stderr: "no space for new pane\n" } },
    none("tmux refused: no space for new pane"),
    [...looks, "split-window"]
  ],
  ["the server is gone at the split", { split: gone }, none(ended), [...looks, "split-window"]],
  ["tmux cannot be started for the split", { split: { fails: "not_started" } }, none("tmux could not be started"), [
    ...looks,
    "split-window"
  ]],
  [
    "the server ends during the split",
    { split: { code: 1, stderr: "server exited unexpectedly\n" } },
    begun("the tmux server ended while it was asked", perhaps),
    [...looks, "split-window"]
  ],
  ["the split is killed", { split: { fails: "signal" } }, begun("tmux was ended by a signal", perhaps), [
    ...looks,
    "split-window"
  ]],
  [
    "the answer to the split cannot be read",
    { split: { stdout: "%9\n" } },
    begun("tmux did not say which pane it opened", perhaps),
    [...looks, "split-window"]
  ],
  [
    "the program ends at once",
    { title: { code: 1, stderr: "can't find pane: %9\n" } },
    begun(`${untitled}: tmux refused: can't find pane: %9`, "The pane %9"),
    [...looks, "split-window", "select-pane"]
  ]
]

describe("the monitor pane in tmux, scripted", () => {
  it.effect("is made above this session's pane, a quarter high, without the focus, and is its owner's", () =>
    Effect.gen(function*() {
      const script = tmux({})
      assert.deepStrictEqual(yield* place(script), { outcome: "created", pane: "%9" })
      const [, list, split, title, ...more] = script.calls.map(({ args }) => args)
      assert.lengthOf(more, 0)
      assert.deepStrictEqual(list?.slice(3, 6), ["list-panes", "-a", "-F"])
      assert.include(list?.[6], `#{m:* --owner ${owner}*,#{pane_start_command}}`)
      assert.deepStrictEqual(split?.slice(0, 20), [
        ...["-u", "-S", "/tmp/a,b/default", "split-window", "-b", "-v", "-l", "25%", "-d"],
        ...["-P", "-F", "#{pane_id}|#{window_id}", "-t", "%3", "-c", "/team ##1"],
        ...["-e", "PI_INTERCOM_ROOT=/team", "--", "/bin/sh"]
      ])
      assert.deepStrictEqual(split?.slice(22), ["intercom-launch", "/team #1", ...request.argv, "--owner", owner])
      assert.deepStrictEqual(title?.slice(3), ["select-pane", "-t", "%9", "-T", "Intercom monitor"])
    }))

  it.effect("keeps the zoom of a zoomed window, and only of that", () =>
    Effect.gen(function*() {
      for (const zoomed of [false, true]) {
        const script = tmux({ monitors: { stdout: zoomed ? own.replace("|0|0\n", "|1|0\n") : own } })
        yield* place(script)
        assert.strictEqual(script.calls[2]?.args.includes("-Z"), zoomed)
      }
    }))

  it.effect("that is in this window is kept, whatever it runs, and nothing is typed or titled", () =>
    Effect.gen(function*() {
      for (const rows of [own, own.replace("40", "5")]) {
        const script = tmux({ monitors: { stdout: rows + monitor("%4", "@1") + monitor("%4", "@1") } })
        assert.deepStrictEqual(yield* place(script), { outcome: "kept", pane: "%4" })
        assert.deepStrictEqual(called(script), looks)
      }
    }))

  for (const [when, told, sentence, calls] of refusals) {
    it.effect(`when ${when}`, () =>
      Effect.gen(function*() {
        const script = tmux(told)
        assert.strictEqual((yield* Effect.flip(place(script))).message, sentence)
        assert.deepStrictEqual(called(script), [...calls])
      }))
  }

  it.effect("outside tmux nothing is looked at, and a command that is too long is not sent", () =>
    Effect.gen(function*() {
      const outside = tmux({})
      assert.match(
        (yield* Effect.flip(place(outside, {}))).message,
        /^There is no monitor pane: this session does not run/
      )
      assert.deepStrictEqual(called(outside), [])
      const long = tmux({})
      const environment = { PI_INTERCOM_ROOT: "x".repeat(15 * 1024) }
      assert.strictEqual(
        (yield* Effect.flip(place(long, inside, { ...request, environment }))).message,
        none("its command and environment together are longer than tmux takes (15 KiB, 900 arguments)")
      )
      assert.deepStrictEqual(called(long), looks)
    }))

  for (
    const [at, told, sentence] of [
      [0, { list: { takes: "forever" } }, none(slow)],
      [1, { monitors: { takes: "forever" } }, none(slow)],
      [2, { split: { takes: "forever" } }, begun(slow, perhaps)],
      [3, { title: { takes: "forever" } }, begun(`${untitled}: ${slow}`, "The pane %9")]
    ] as const
  ) {
    it.effect(`a tmux whose call ${at + 1} hangs is ended after 4 s`, () =>
      Effect.gen(function*() {
        const script = tmux(told)
        const fiber = yield* Effect.fork(Effect.flip(place(script)))
        yield* TestClock.adjust("3999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* Fiber.join(fiber)).message, sentence)
        assert.lengthOf(script.calls, at + 1)
      }))
  }

  it.effect("once begun it goes on to its title, whatever interrupts", () =>
    Effect.gen(function*() {
      const script = tmux({ split: { stdout: "%9|@1\n", takes: "1 second" } })
      const fiber = yield* Effect.fork(place(script))
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(called(script), [...looks, "split-window"])
      yield* Fiber.interruptFork(fiber)
      yield* TestClock.adjust("1 second")
      yield* Fiber.await(fiber)
      assert.deepStrictEqual(called(script), [...looks, "split-window", "select-pane"])
    }))
})
