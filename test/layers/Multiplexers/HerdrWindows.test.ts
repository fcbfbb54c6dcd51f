import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { called, herdr, launch, notLaunched, request, use } from "./HerdrWorld.ts"

describe("launching in Herdr on Windows", () => {
  it.effect("types an encoded PowerShell command, and writes no script", () =>
    Effect.gen(function*() {
      const script = herdr()
      const { layer, written } = makeLaunchScripts()
      yield* launch(script, { scripts: layer, os: "win32" })
      const line = script.calls.at(-1)?.args[3] ?? ""
      const [, code = ""] = /^powershell\.exe -NoLogo -NoProfile -EncodedCommand ([A-Za-z0-9+/]+=*)$/.exec(line) ?? []
      const text = Buffer.from(code, "base64").toString("utf16le")
      assert.include(text, "Remove-Item Env:PI_SESSION_*\nRemove-Item Env:TMUX*\n$env:PI_INTERCOM_ROOT = '/team'")
      assert.notInclude(text, "HERDR")
      assert.include(text, "$start.FileName = '/bin/pi'\n$start.Arguments = '\"-e\" \"it''s\n$x\"'")
      assert.strictEqual(written.size, 0)
    }))

  it.effect("refuses what Windows cannot start, before the tab is opened", () =>
    Effect.gen(function*() {
      const long = herdr()
      const asked = { ...request, environment: { PATH: "x".repeat(12_000) } }
      const failed = yield* Effect.flip(use(long, (multiplexer) => multiplexer.launch(asked), { os: "win32" }))
      assert.strictEqual(
        failed.message,
        notLaunched("its command and environment together are longer than Windows takes")
      )
      assert.deepStrictEqual(called(long), ["pane current"])
    }))
})
