import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import * as Looking from "../../../src/layers/Looking.ts"
import * as Surroundings from "../../../src/layers/Surroundings/Node.ts"
import { examineHere } from "../../../src/programs/doctor/Doctor.ts"
import { machineIn } from "../../layers/HostProgram/arrangements.ts"
import { hostOf } from "../../layers/HostProgram/host.ts"
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
        Effect.map((diagnosis) => diagnosis.findings.filter(({ code }) => code !== "node_old")),
        Effect.provide(
          Layer.merge(hostOf(version, machine), Surroundings.within(version)).pipe(Layer.provideMerge(Looking.layer))
        ),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", join(folder, "state")]])))
      )
      const says =
        /^Pi started in .*project would not start or load the wrong copy: Pi would load two copies of Intercom/
      assert.deepStrictEqual([...(yield* findings)], [])
      fs.writeFileSync(settings, JSON.stringify({ packages: [machine.copy] }))
      assertOnly(yield* findings, "other_copy", says, /^Take one of them out of Pi's settings or folders/)
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
      assertOnly(yield* findings, "other_copy", says, /^Take one of them out/)
      fs.rmSync(settings)
      assert.deepStrictEqual([...(yield* findings)], [])
    }))
})
