import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hostVersions } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { arrangements, machineIn } from "./arrangements.ts"
import { reallyConflicts } from "./host.ts"

describe("every arrangement, as real Pi sees it", () => {
  for (const version of hostVersions) {
    for (const { arrange, conflict, name } of arrangements) {
      it.scopedLive(`${version}: ${name}`, () =>
        Effect.gen(function*() {
          const machine = machineIn(yield* temporaryFolder)
          arrange(machine)
          assert.strictEqual(yield* reallyConflicts(version, machine), conflict)
        }))
    }
  }
})
