import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import type { LaunchFailed } from "../../../src/domain/Launch.ts"
import type { Command } from "../../../src/services/CommandRunner.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { inside, launch, notLaunched, panes, request, tmux, use } from "./TmuxScripted.ts"

interface Refusal {
  readonly when: string
  readonly variables?: Readonly<Record<string, string>>
  readonly list?: Behaviour
  readonly window?: Behaviour
  readonly reason: LaunchFailed["reason"]
  readonly says: string
}

const refusals: ReadonlyArray<Refusal> = [
  {
    when: "outside tmux",
    variables: {},
    reason: "not_inside",
    says: notLaunched(
      "this session does not run inside tmux; start tmux and open this session in it, or choose the multiplexer that it runs in with intercom_set_multiplexer"
    )
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

describe("launching in a tmux that fails, scripted", () => {
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
})
