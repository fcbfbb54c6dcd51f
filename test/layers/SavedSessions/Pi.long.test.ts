import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hostVersions } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { arrangements, machineIn, reallyFinds, save } from "./arrangements.ts"

afterEach(() => void vi.unstubAllEnvs())

describe.each(hostVersions)("where real Pi %s looks for a session of that id", (version) => {
  for (const { arrange, found, name } of arrangements) {
    it.scopedLive(`${name}: ${found ? "found" : "not found"}`, () =>
      Effect.gen(function*() {
        const machine = machineIn(yield* temporaryFolder)
        save(version, "worker-1", machine.directory, arrange(machine))
        assert.strictEqual(yield* reallyFinds(version, machine, "worker-1"), found)
      }))
  }
})
