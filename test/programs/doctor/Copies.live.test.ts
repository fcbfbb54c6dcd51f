import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { type Extensions, ownCommand } from "../../../src/layers/HostProgram/Copies.ts"
import * as Looking from "../../../src/layers/Looking.ts"
import * as Surroundings from "../../../src/layers/Surroundings/Node.ts"
import { examineHere } from "../../../src/programs/doctor/Doctor.ts"
import { copies } from "../../../src/programs/doctor/Machine.ts"
import { Copies } from "../../../src/services/Copies.ts"
import { arrangements, machineIn } from "../../layers/HostProgram/arrangements.ts"
import { copiesOf } from "../../layers/HostProgram/host.ts"
import { assertOnly } from "../../support/doctor/Examined.ts"
import { hostVersions } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

// Pi's own resolution looks at it, in this process.
vi.stubEnv("PI_OFFLINE", "1")

describe.each(hostVersions)("another copy of the extension in Pi %s", (version) => {
  it.scopedLive("is found in the folder of a worker, and of a Pi without a team, until it was taken out", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const machine = machineIn(folder)
      const settings = join(machine.agent, "settings.json")
      const findings = examineHere(machine.project, "c-1").pipe(
        Effect.map((diagnosis) => diagnosis.findings.filter(({ code }) => code === "other_copy")),
        Effect.provide(
          Layer.merge(copiesOf(version, machine), Surroundings.within(version)).pipe(Layer.provideMerge(Looking.layer))
        ),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", join(folder, "state")]])))
      )
      const says =
        /^Pi started in .*project would load another copy of Intercom, .*copy\/dist\/e.js, beside this one, so no/
      const advice = new RegExp(`^Run pi remove ${machine.copy}\\.$`)
      assert.deepStrictEqual([...(yield* findings)], [])
      fs.writeFileSync(settings, JSON.stringify({ packages: [machine.copy] }))
      assertOnly(yield* findings, "other_copy", says, advice)
      fs.mkdirSync(join(machine.project, ".pi-intercom"))
      fs.writeFileSync(
        join(machine.project, ".pi-intercom/config.json"),
        JSON.stringify({
          version: 1,
          multiplexer: "none",
          agents: [{
            sessionId: "c-1",
            name: "Coordinator",
            coordinator: true,
            description: "x",
            port: 21_533,
            projectDirectory: "."
          }]
        }),
        { mode: 0o644 }
      )
      assertOnly(yield* findings, "other_copy", says, advice)
      fs.rmSync(settings)
      assert.deepStrictEqual([...(yield* findings)], [])
    }))

  it.scopedLive("is known by its tools, also when it has no command, or another one's is the first", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const machine = machineIn(folder)
      const linked = join(folder, "linked.js")
      fs.symlinkSync(machine.ours, linked)
      const at = (path: string) =>
        ({ path, source: "cli", scope: "temporary", origin: "top-level", baseDir: folder }) as const
      const command = (name: string, path: string) =>
        ({ name, description: "Shows something.", source: "extension", sourceInfo: at(path) }) as const
      const [own, theirs] = [at(linked), at("/elsewhere/theirs.js")]
      const loaded = (extensions: Extensions) =>
        Effect.provide(
          Effect.flatMap(Copies, (all) => Effect.map(all.loaded, (found) => found.map(({ path }) => path))),
          copiesOf(version, machine, extensions)
        )
      const tools = [{ name: "read", sourceInfo: at("/elsewhere/other.js") }]
      const commands = [command("intercom", own.path)]
      assert.deepStrictEqual(yield* loaded({ commands, tools }), [own.path])
      const clashing = [...tools, { name: "intercom_send", sourceInfo: theirs }, {
        name: "intercom_list",
        sourceInfo: theirs
      }]
      assert.deepStrictEqual(yield* loaded({ commands, tools: clashing }), [own.path, theirs.path])
      const mine = { name: "intercom_send", sourceInfo: at(machine.ours) }
      assert.deepStrictEqual(yield* loaded({ commands, tools: [mine] }), [own.path])

      const both = [
        { ...command("intercom:1", theirs.path), description: "Shows the sessions." },
        command("intercom:2", own.path)
      ]
      assert.deepStrictEqual(yield* loaded({ commands: both, tools: clashing }), [own.path, theirs.path])
      assert.strictEqual(yield* ownCommand(machine.ours, both), "intercom:2")
    }))

  it.scopedLive("is taken out of wherever it is, and one that is in two folders is said once", () =>
    Effect.gen(function*() {
      const advised = Effect.gen(function*() {
        const machine = machineIn(yield* temporaryFolder)
        return (name: string) =>
          Effect.gen(function*() {
            arrangements.find((one) => one.name === name)?.arrange(machine)
            const { findings } = yield* Effect.provide(
              copies([machine.project, machine.project]),
              copiesOf(version, machine)
            )
            assert.lengthOf(findings, 1)
            return findings[0]?.advice
          })
      })
      for (
        const [name, advice] of [
          ["a file of the user, relative", "Take it out of \"extensions\" in Pi's settings."],
          ["a folder of the user's extensions", "Move it out of Pi's folder of extensions."],
          ["an npm package of the user", "Run pi remove npm:@comput/pi-intercom."],
          ["a package of a trusted project", "Run pi remove -l ../../copy in that project."],
          [
            "a linked folder of a trusted project's extensions",
            "Move it out of Pi's folder of extensions in that project."
          ]
        ] as const
      ) assert.strictEqual(yield* (yield* advised)(name), advice)
    }))
})
