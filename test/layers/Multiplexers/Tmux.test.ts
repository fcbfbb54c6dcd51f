import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { LaunchFailed } from "../../../src/domain/Launch.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import * as TmuxClient from "../../../src/layers/Multiplexers/TmuxClient.ts"
import type { Command } from "../../../src/services/CommandRunner.ts"
import { CommandRunner } from "../../../src/services/CommandRunner.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { unknownProcesses } from "../../support/ProcessUnknown.ts"
import * as StateMemory from "../../support/StateMemory.ts"

const inside = { TMUX: "/tmp/a,b/default,77,1", TMUX_PANE: "%3" }
const panes = [
  "77|0|%3|@1|$0|80|/dev/pts/1|3.3a\n",
  "77|0|%3|@1|$1|80|/dev/pts/1|3.3a\n",
  "77|1|%4|@2|$1|81|/dev/pts/2|3.3a\n"
].join("")

/** tmux as told for its two kinds of calls. */
const tmux = (list: Behaviour, other: Behaviour = {}) =>
  scripted((command) => command.args[3] === "list-panes" ? list : other)

const use = <A, E>(
  script: ReturnType<typeof scripted>,
  variables: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, Multiplexers>,
  os: "linux" | "win32" = "linux"
) =>
  Effect.provide(
    effect,
    Live.layer.pipe(
      Layer.provide(script.layer),
      Layer.provide(platformAs(os)),
      Layer.provide(unknownProcesses),
      Layer.provide(Layer.merge(StateMemory.layer, IdsTest.layer)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
    )
  )

const request = { root: "/", argv: ["/bin/pi", "-e", "x"], directory: process.cwd(), environment: { A: "1" } } as const
const launch = (kind: "tmux" | "herdr" | "none", asked: Parameters<typeof launchOf>[1] = request) =>
  Effect.flatMap(Multiplexers, (all) => launchOf(all, asked, kind))
const launchOf = (
  all: typeof Multiplexers.Service,
  asked: { argv: readonly [string, ...ReadonlyArray<string>]; directory: string; environment: Record<string, string> },
  kind: "tmux" | "herdr" | "none"
) => all.of(kind).launch({ root: "/", ...asked })
const title = (name: string) => Effect.flatMap(Multiplexers, (all) => all.title(name))

interface Refusal {
  readonly when: string
  readonly variables?: Readonly<Record<string, string>>
  readonly list?: Behaviour
  readonly window?: Behaviour
  readonly reason: LaunchFailed["reason"]
  readonly says: string
}

const notLaunched = (detail: string) => `The worker was not launched: ${detail}. No tab was opened.`

const refusals: ReadonlyArray<Refusal> = [
  {
    when: "outside tmux",
    variables: {},
    reason: "not_inside",
    says: notLaunched("this session does not run inside tmux; start tmux, open this session in it")
  },
  ...[
    { ...inside, TMUX: "/tmp/s" },
    { TMUX: inside.TMUX },
    { ...inside, TMUX_PANE: "" },
    { ...inside, TMUX_PANE: "3" },
    { ...inside, TMUX_PANE: "%3;" }
  ].map((variables): Refusal => ({
    when: `variables ${JSON.stringify(variables)}`,
    variables,
    reason: "not_inside",
    says: notLaunched(
      "the variables TMUX and TMUX_PANE of this session are not as tmux sets them; open this session in a tmux pane"
    )
  })),
  {
    when: "tmux is not installed",
    list: { fails: "missing" },
    reason: "missing_program",
    says: notLaunched("tmux is not installed or not on PATH")
  },
  {
    when: "the server is gone",
    list: { code: 1, stderr: "no server running on /tmp/a,b/default\n" },
    reason: "not_inside",
    says: notLaunched(
      "the tmux server that this session was started in is not running any more; " +
        "start tmux again and open this session in it"
    )
  },
  {
    when: "the socket is gone",
    list: { code: 1, stderr: "error connecting to /home/me/s (No such file or directory)\n" },
    reason: "not_inside",
    says: notLaunched(
      "the tmux server that this session was started in is not running any more; " +
        "start tmux again and open this session in it"
    )
  },
  ...["lost server", "server exited", "server exited unexpectedly"].flatMap((stderr): ReadonlyArray<Refusal> => [
    {
      when: `the list ends with ${stderr}`,
      list: { code: 1, stderr: `${stderr}\n` },
      reason: "failed",
      says: notLaunched("the tmux server ended while it was asked")
    },
    {
      when: `the tab's opening ends with ${stderr}`,
      window: { code: 1, stderr: `${stderr}\n` },
      reason: "unknown",
      says: "It is not known whether the worker was launched: the tmux server ended while it was asked. " +
        "A tab may have been opened; look before you create another worker."
    }
  ]),
  ...["no server running on /tmp/a,b/default", "error connecting to /s (Connection refused)"].map((
    stderr
  ): Refusal => ({
    when: `the tab's opening ends with ${stderr}`,
    window: { code: 1, stderr: `${stderr}\n` },
    reason: "failed",
    says: notLaunched(
      "the tmux server that this session was started in is not running any more; " +
        "start tmux again and open this session in it"
    )
  })),
  {
    when: "another server has the socket",
    list: { stdout: panes.replaceAll(/^77/gm, "78") },
    reason: "not_inside",
    says: notLaunched(
      "the tmux server that this session was started in is gone and another one has its socket; " +
        "open this session in that one"
    )
  },
  {
    when: "the list is cut",
    list: { stdout: panes.slice(0, -3) },
    reason: "failed",
    says: notLaunched("tmux listed its panes in a form that cannot be read")
  },
  {
    when: "tmux is too old",
    list: { stdout: panes.replaceAll("3.3a", "3.1c") },
    reason: "unsupported",
    says: notLaunched("tmux 3.1c is too old: 3.2 or newer is needed")
  },
  {
    when: "the pane is gone",
    variables: { ...inside, TMUX_PANE: "%9" },
    reason: "not_inside",
    says: notLaunched("this session's tmux pane %9 is not there any more; open this session in a tmux pane")
  },
  {
    when: "the pane is dead",
    variables: { ...inside, TMUX_PANE: "%4" },
    reason: "not_inside",
    says: notLaunched("this session's tmux pane %4 is not there any more; open this session in a tmux pane")
  },
  {
    when: "tmux prints too much",
    list: { stdout: "x".repeat(1024 * 1024 + 1) },
    reason: "failed",
    says: notLaunched("tmux printed more than expected and was ended")
  },
  {
    when: "tmux refuses",
    window: { code: 1, stderr: "create window failed:\u0007 fork failed\nmore\n" },
    reason: "failed",
    says: notLaunched("tmux refused: create window failed: fork failed")
  },
  {
    when: "tmux was killed while it opened the tab",
    window: { fails: "signal" },
    reason: "unknown",
    says: "It is not known whether the worker was launched: tmux was ended by a signal. " +
      "A tab may have been opened; look before you create another worker."
  },
  {
    when: "the answer has no ids",
    window: { stdout: "\n" },
    reason: "unknown",
    says: "It is not known whether the worker was launched: tmux did not say which tab it opened. " +
      "A tab may have been opened; look before you create another worker."
  }
]

describe("Multiplexers over a scripted runner", () => {
  for (const { list = { stdout: panes }, reason, says, variables = inside, when, window } of refusals) {
    it.effect(`a launch fails when: ${when}`, () =>
      Effect.gen(function*() {
        const script = tmux(list, window)
        const error = yield* Effect.flip(use(script, variables, launch("tmux")))
        assert.strictEqual(error.reason, reason)
        assert.strictEqual(error.message, says)
        const opened = script.calls.filter((call) => call.args[3] === "new-window")
        assert.strictEqual(opened.length, window === undefined ? 0 : 1)
      }))
  }

  it.effect("a launch proves first, then opens one window in the session of its own pane", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes }, { stdout: "%8|@6\n" })
      const launched = yield* use(script, inside, launch("tmux"))
      assert.deepStrictEqual({ ...launched }, { multiplexer: "tmux", tab: "@6", pane: "%8" })
      assert.strictEqual(script.calls.length, 2)
      for (const call of script.calls) {
        assert.strictEqual(call.program, "tmux")
        assert.deepStrictEqual(call.args.slice(0, 3), ["-u", "-S", "/tmp/a,b/default"])
        assert.strictEqual(call.maxOutputBytes, 1024 * 1024)
      }
      const args = script.calls[1]?.args ?? []
      assert.strictEqual(args[args.indexOf("-t") + 1], "$1:")
    }))

  for (
    const [when, calls, script, reason] of [
      ["proves", 1, tmux({ takes: "forever" }), "failed"],
      ["opens", 2, tmux({ stdout: panes }, { takes: "forever" }), "unknown"]
    ] as const
  ) {
    it.effect(`a tmux that hangs while it ${when} is ended after 4 s`, () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.flip(use(script, inside, launch("tmux"))))
        // The look at the directory is real I/O: the deadline starts when the call is there.
        while (script.calls.length < calls) yield* TestClock.adjust(0)
        yield* TestClock.adjust("3999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.reason, reason)
        assert.include(error.message, "tmux did not answer in time and was ended")
      }))
  }

  it.effect("what is too long is refused before it is called", () =>
    Effect.gen(function*() {
      for (
        const argv of [
          ["pi", "x".repeat(15 * 1024)],
          ["pi", ...Array.from({ length: 900 }, () => "")]
        ] as const
      ) {
        const script = tmux({ stdout: panes })
        const error = yield* Effect.flip(use(script, inside, launch("tmux", { ...request, argv })))
        assert.strictEqual(
          error.message,
          notLaunched("its command and environment together are longer than tmux takes (15 KiB, 900 arguments)")
        )
        assert.deepStrictEqual(script.calls.map((call: Command) => call.args[3]), ["list-panes"])
      }
    }))

  it.effect("a directory that is missing or a file is refused before any call", () =>
    Effect.gen(function*() {
      for (const directory of ["/nowhere/at/all", process.execPath]) {
        const script = tmux({ stdout: panes })
        const error = yield* Effect.flip(use(script, inside, launch("tmux", { ...request, directory })))
        assert.strictEqual(error.reason, "directory")
        assert.strictEqual(
          error.message,
          notLaunched("the worker's directory does not exist or cannot be entered")
        )
        assert.strictEqual(script.calls.length, 0)
      }
    }))

  it.effect("a title is proven like a launch, and its failure is a sentence", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes })
      yield* use(script, inside, title("-a #(b);"))
      const args = script.calls[1]?.args ?? []
      assert.deepStrictEqual(args.slice(args.indexOf("rename-window")), [
        "rename-window",
        "-t",
        "%3",
        "--",
        "-a ##(b)\\;"
      ])
      const error = yield* Effect.flip(use(tmux({ stdout: "" }), inside, title("a")))
      assert.strictEqual(
        error.message,
        "The tab could not be renamed: this session's tmux pane %3 is not there any more; " +
          "open this session in a tmux pane."
      )
    }))

  it.effect("a call without an explicit target is a defect, and nothing runs", () =>
    Effect.gen(function*() {
      const script = tmux({})
      const runner = yield* Effect.provide(CommandRunner, script.layer)
      for (const target of ["", "main", "%"]) {
        const exit = yield* Effect.exit(TmuxClient.make(runner, "/s").call(["kill-pane", "-t", target]))
        assert.isTrue(exit._tag === "Failure" && exit.cause._tag === "Die")
      }
      assert.strictEqual(script.calls.length, 0)
    }))

  it.effect("where this session is, and what titles its tab", () =>
    Effect.gen(function*() {
      const here = Effect.flatMap(Multiplexers, (all) => all.here)
      const herdr = { HERDR_ENV: "1" }
      const script = tmux({ stdout: panes })
      assert.strictEqual(yield* use(script, { ...inside, ...herdr }, here), "herdr")
      assert.strictEqual(yield* use(script, inside, here), "tmux")
      assert.strictEqual(yield* use(script, { HERDR_ENV: "0" }, here), "herdr")
      assert.strictEqual(yield* use(script, {}, here, "win32"), "none")
      assert.strictEqual(yield* use(script, herdr, here, "win32"), "herdr")
      yield* use(script, {}, title("a"))
      assert.strictEqual(script.calls.length, 0)
      // tmux started inside a pane of Herdr, or Herdr inside one of tmux: Herdr titles.
      yield* Effect.flip(use(script, { ...inside, ...herdr, HERDR_WORKSPACE_ID: "w1" }, title("a")))
      assert.deepStrictEqual(script.calls.map((call) => call.program), ["herdr"])
    }))

  it.effect("outside Windows none opens no window and says what to do, and runs nothing", () =>
    Effect.gen(function*() {
      const script = tmux({ stdout: panes })
      const error = yield* Effect.flip(use(script, inside, launch("none")))
      assert.strictEqual(error.reason, "unsupported")
      assert.strictEqual(
        error.message,
        notLaunched(
          "the team's multiplexer is none, and only on Windows does Intercom open terminal windows of its own; " +
            "run Pi inside Herdr or tmux and choose that with intercom_set_multiplexer"
        )
      )
      assert.strictEqual(script.calls.length, 0)
    }))

  it.effect("a trace is asked of the multiplexer that it names, and only of that one", () =>
    Effect.gen(function*() {
      const everywhere = { ...inside, HERDR_ENV: "1", HERDR_WORKSPACE_ID: "w1", HERDR_SOCKET_PATH: "/run/herdr.sock" }
      const asked = (trace: string) => {
        const script = scripted(() => ({ code: 1 }))
        return Effect.flatMap(Multiplexers, (all) => all.gone(trace)).pipe(
          (effect) => use(script, everywhere, effect),
          Effect.map((gone) => [gone, script.calls.map((call) => call.program)])
        )
      }
      assert.deepStrictEqual(yield* asked("herdr aSdvo1cRyf9q:w1 w1:p1 t1"), [false, ["herdr"]])
      for (const trace of ["none w1 w1:p1", "screen a b", "herdr w1", "", "herdr w1 w1:p1 more"]) {
        assert.deepStrictEqual(yield* asked(trace), [false, []], trace)
      }
    }))
})
