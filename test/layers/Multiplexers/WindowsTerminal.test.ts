import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import type { LaunchFailed, LaunchRequest } from "../../../src/domain/Launch.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { unknownProcesses } from "../../support/ProcessUnknown.ts"
import * as StateMemory from "../../support/StateMemory.ts"

const request: LaunchRequest = {
  root: "C:\\team",
  argv: ["C:\\Program Files\\nodejs\\node.exe", "C:\\a b\\", "say \"x\"", "", "it's ‘so’ %PATH% & ^ 漢"],
  // Looked at for real, and tests run elsewhere.
  directory: process.cwd(),
  environment: { PATH: "C:\\Windows;C:\\tools", PI_CODING_AGENT_DIR: "D:\\other", PI_INTERCOM_ROOT: "C:\\team" }
}
const variables = { SystemRoot: "D:\\Win", PATH: "C:\\Windows;C:\\tools", PI_CODING_AGENT_DIR: "D:\\agent" }

const launch = (behaviour: Behaviour, changed: Partial<LaunchRequest> = {}, environment: object = variables) => {
  const script = scripted(() => behaviour)
  const launched = Effect.flatMap(Multiplexers, (all) => all.of("none").launch({ ...request, ...changed })).pipe(
    Effect.provide(Live.layer.pipe(
      Layer.provide(script.layer),
      Layer.provide(Layer.mergeAll(platformAs("win32"), unknownProcesses, StateMemory.layer, IdsTest.layer)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))))
    ))
  )
  return { script, launched }
}

const notLaunched = (reason: LaunchFailed["reason"], says: string) =>
  `${reason === "unknown" ? "It is not known whether the worker was" : "The worker was not"} launched: ${says}`

describe("terminal windows of Windows", () => {
  it.effect("one window is opened by programs of Windows itself, and all that a person chose is encoded", () =>
    Effect.gen(function*() {
      const { launched, script } = launch({})
      const answer = yield* launched
      assert.deepStrictEqual({ ...answer }, {
        multiplexer: "none",
        tab: "a new terminal window",
        pane: "a new terminal window"
      })
      assert.lengthOf(script.calls, 1)
      const [call] = script.calls
      if (call === undefined) return assert.fail("nothing was called")
      assert.strictEqual(call.program, "D:\\Win\\System32\\cmd.exe")
      assert.deepStrictEqual(call.args.slice(0, -1), [
        ...["/d", "/c", "start", "", "D:\\Win\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"],
        ...["-NoLogo", "-NoProfile", "-NoExit", "-EncodedCommand"]
      ])
      assert.match(call.args.at(-1) ?? "", /^[A-Za-z0-9+/]+={0,2}$/)
      assert.isUndefined(call.environment, "the window inherits")
      assert.strictEqual(
        Buffer.from(call.args.at(-1) ?? "", "base64").toString("utf16le"),
        [
          "$ErrorActionPreference = 'Stop'",
          `Set-Location -LiteralPath '${process.cwd()}'`,
          "Remove-Item Env:PI_SESSION_*",
          "Remove-Item Env:HERDR_*",
          "Remove-Item Env:TMUX*",
          // PATH is this session's own and is inherited: it would not fit into the line.
          "$env:PI_CODING_AGENT_DIR = 'D:\\other'",
          "$env:PI_INTERCOM_ROOT = 'C:\\team'",
          "$start = New-Object System.Diagnostics.ProcessStartInfo",
          "$start.FileName = 'C:\\Program Files\\nodejs\\node.exe'",
          `$start.Arguments = '"C:\\a b\\\\" "say \\"x\\"" "" "it''s ‘‘so’’ %PATH% & ^ 漢"'`,
          `$start.WorkingDirectory = '${process.cwd()}'`,
          "$start.UseShellExecute = $false",
          "[System.Diagnostics.Process]::Start($start).WaitForExit()"
        ].join("\n")
      )
    }))

  const opens = " No tab was opened."
  const perhaps = " A tab may have been opened; look before you create another worker."
  const program = "D:\\Win\\System32\\cmd.exe"
  const faults: ReadonlyArray<readonly [when: string, Behaviour, reason: LaunchFailed["reason"], says: string]> = [
    [
      "cmd.exe is missing",
      { fails: "missing" },
      "missing_program",
      `${program} is not installed or not on PATH.${opens}`
    ],
    ["cmd.exe is killed", { fails: "signal" }, "unknown", `${program} was ended by a signal.${perhaps}`],
    [
      "cmd.exe refuses",
      { code: 1, stderr: "Access is denied.\r\n" },
      "failed",
      `Windows opened no window: Access is denied.${opens}`
    ],
    ["cmd.exe refuses without a word", { code: 1 }, "failed", `Windows opened no window.${opens}`],
    [
      "cmd.exe prints too much",
      { stdout: "x".repeat(65 * 1024) },
      "unknown",
      `${program} printed more than expected and was ended.${perhaps}`
    ]
  ]
  for (const [when, behaviour, reason, says] of faults) {
    it.effect(`a launch fails when ${when}, and is not tried again`, () =>
      Effect.gen(function*() {
        const { launched, script } = launch(behaviour)
        const error = yield* Effect.flip(launched)
        assert.strictEqual(error.message, notLaunched(reason, says))
        assert.strictEqual(error.reason, reason)
        assert.lengthOf(script.calls, 1)
      }))
  }

  it.effect("what does not fit, or has no directory, is refused before any call", () =>
    Effect.gen(function*() {
      for (
        const [changed, reason] of [
          [{ argv: ["pi", "x".repeat(3_000)] }, "too_long"],
          [{ directory: "/nowhere/at/all" }, "directory"]
        ] as const
      ) {
        const { launched, script } = launch({}, changed)
        assert.strictEqual((yield* Effect.flip(launched)).reason, reason)
        assert.lengthOf(script.calls, 0)
      }
    }))

  it.effect("a cmd.exe that hangs is ended after 4 s; without SystemRoot it is looked for where it usually is", () =>
    Effect.gen(function*() {
      const { launched, script } = launch({ takes: "forever" }, {}, {})
      const fiber = yield* Effect.fork(Effect.flip(launched))
      while (script.calls.length < 1) yield* TestClock.adjust(0)
      assert.strictEqual(script.calls[0]?.program, "C:\\Windows\\System32\\cmd.exe")
      yield* TestClock.adjust("3999 millis")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).reason, "unknown")
    }))

  it.effect("a window has no tab to title, and cannot be told from another", () =>
    Effect.gen(function*() {
      const script = scripted(() => ({}))
      const effect = Effect.gen(function*() {
        const none = (yield* Multiplexers).of("none")
        yield* none.title("Ada")
        return yield* Effect.flip(none.identify)
      })
      const layer = Live.layer.pipe(
        Layer.provide(script.layer),
        Layer.provide(Layer.mergeAll(platformAs("win32"), unknownProcesses, StateMemory.layer, IdsTest.layer)),
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
      )
      const error = yield* Effect.provide(effect, layer)
      assert.strictEqual(error.detail, "this multiplexer cannot tell its panes apart")
      assert.lengthOf(script.calls, 0)
    }))
})
