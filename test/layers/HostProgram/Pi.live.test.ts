import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, vi } from "vitest"
import { HostProgram } from "../../../src/services/HostProgram.ts"
import { hostVersions } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { arrangements, machineIn } from "./arrangements.ts"
import { checked, hostOf, reallyConflicts } from "./host.ts"

const given = (variables: Readonly<Record<string, string>>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

const program = Effect.map(temporaryFolder, (folder) => ({
  folder,
  host: Effect.provide(HostProgram, hostOf("1.6.0", machineIn(folder)))
}))

// Pi's own resolution looks at it, in this process; without it, it would ask npm for its global folder.
beforeEach(() => void vi.stubEnv("PI_OFFLINE", "1"))
afterEach(() => void vi.unstubAllEnvs())

describe("HostProgram", () => {
  it.scopedLive("the same Pi is its runtime and the real path of its script", () =>
    Effect.gen(function*() {
      const { folder, host } = yield* program
      const argv = yield* given({})(Effect.flatMap(host, (pi) => pi.argv))
      const script = realpathSync(process.argv[1] ?? "")
      assert.deepStrictEqual([...argv], [process.execPath, script, "-e", join(folder, "ours/dist/e.js")])
    }))

  it.scopedLive("PI_INTERCOM_PI names another executable; empty it names none", () =>
    Effect.gen(function*() {
      const { folder, host } = yield* program
      const argv = (value: string) => given({ PI_INTERCOM_PI: value })(Effect.flatMap(host, (pi) => pi.argv))
      assert.deepStrictEqual([...(yield* argv("/opt/my pi"))], ["/opt/my pi", "-e", join(folder, "ours/dist/e.js")])
      assert.strictEqual((yield* argv(""))[0], process.execPath)
    }))

  it.scopedLive("the monitor is the file beside the real entry, run by the runtime of this Pi; without it there is none", () =>
    Effect.gen(function*() {
      const { folder, host } = yield* program
      const monitor = Effect.flatMap(host, (pi) => pi.monitor("/the root"))
      assert.strictEqual(
        (yield* Effect.flip(monitor)).message,
        "There is no monitor pane: monitor.cjs is not beside the extension; install Intercom again. " +
          "Nothing was created; messages work without it."
      )
      mkdirSync(join(folder, "real/dist"), { recursive: true })
      for (const name of ["e.js", "monitor.cjs"]) writeFileSync(join(folder, "real/dist", name), "")
      rmSync(join(folder, "ours/dist/e.js"), { force: true })
      mkdirSync(join(folder, "ours/dist"), { recursive: true })
      symlinkSync(join(folder, "real/dist/e.js"), join(folder, "ours/dist/e.js"))
      assert.deepStrictEqual(
        [...(yield* monitor)],
        [process.execPath, join(folder, "real/dist/monitor.cjs"), "--root", "/the root"]
      )
    }))

  it.scopedLive("exactly the variables of the spec are carried, as they are, and only when set", () =>
    Effect.gen(function*() {
      const { host } = yield* program
      const environment = (variables: Readonly<Record<string, string>>) =>
        given(variables)(Effect.flatMap(host, (pi) => pi.environment))
      const carried = {
        PATH: " /a,b:/c ",
        PI_CODING_AGENT_DIR: "~/x",
        PI_CODING_AGENT_SESSION_DIR: "",
        PI_INTERCOM_ALLOW_UNAUTHENTICATED: "1"
      }
      assert.deepStrictEqual(yield* environment({ ...carried, HOME: "/h", PI_SESSION_ID: "s" }), carried)
      assert.deepStrictEqual(yield* environment({ HOME: "/h" }), {})
    }))

  for (const version of hostVersions) {
    for (const { arrange, conflict, name } of arrangements) {
      it.scopedLive(`${version}: ${name}: ${conflict ? "refused" : "goes on"}`, () =>
        Effect.gen(function*() {
          const machine = machineIn(yield* temporaryFolder)
          arrange(machine)
          const said = yield* checked(version, machine)
          assert.strictEqual(said?.startsWith("other_copy: "), conflict ? true : undefined, said)
        }))
    }

    it.scopedLive(`${version}: a project that nobody decided about counts as trusted`, () =>
      Effect.gen(function*() {
        const machine = machineIn(yield* temporaryFolder)
        arrangements.find(({ name }) => name === "a package of a project that is not trusted")?.arrange(machine)
        assert.isUndefined(yield* checked(version, machine))
        const undecided = { ...machine, agent: join(machine.agent, "none") }
        assert.match((yield* checked(version, undecided)) ?? "", /^other_copy/)
      }))

    it.scopedLive(`${version}: a package that Pi would install at its start`, () =>
      Effect.gen(function*() {
        vi.stubEnv("PI_OFFLINE", undefined)
        const machine = machineIn(yield* temporaryFolder)
        const missing = (source: string) => {
          writeFileSync(join(machine.agent, "settings.json"), JSON.stringify({ packages: [source] }))
          return checked(version, machine)
        }
        assert.include((yield* missing("npm:@comput/pi-intercom@0.6.1")) ?? "", "npm:@comput/pi-intercom@0.6.1")
        assert.isUndefined(yield* missing("npm:pi-intercom-other"))
      }))

    it.scopedLive(`${version}: real Pi dies of the second copy, and takes the same path twice`, () =>
      Effect.gen(function*() {
        for (const name of ["a package of the user", "this very package through a link"]) {
          const machine = machineIn(yield* temporaryFolder)
          const found = arrangements.find((one) => one.name === name)
          found?.arrange(machine)
          assert.strictEqual(yield* reallyConflicts(version, machine), found?.conflict, name)
        }
      }))
  }

  it.scopedLive("the sentence names both copies and shortens the person's home", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      arrangements[1]?.arrange(machine)
      assert.strictEqual(
        yield* checked("1.6.0", machine),
        "other_copy: The worker was not launched: Pi would load two copies of Intercom there, ~/copy/dist/e.js from its " +
          "settings and this session's own ~/ours/dist/e.js, and end at once because both register the same tools; " +
          "take one of them out of Pi's settings or folders. No tab was opened."
      )
    }))
})
