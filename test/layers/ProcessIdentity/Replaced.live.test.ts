import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import * as path from "node:path"
import { vi } from "vitest"
import { make } from "../../../src/layers/ProcessIdentity/Procfs.ts"
import * as FaultyFs from "../../support/FaultyFs.ts"
import { stat, tree } from "./FakeProcfs.ts"

vi.mock(
  "node:fs",
  async (importOriginal) =>
    (await import("../../support/FaultyFs.ts")).over(() => importOriginal<typeof import("node:fs")>())
)

it.scoped("a pid that is given out again between two reads has no facts", () =>
  Effect.gen(function*() {
    const { machineId, procfs } = yield* tree({}, { 77: stat(77, "900") })
    writeFileSync(path.join(procfs, "77/status"), "Uid:\t7\t7\t7\t7\n")
    const { facts } = yield* make(procfs, machineId)
    assert.strictEqual((yield* facts(77)).startTicks, "900")
    // Of stat, status and stat again the second one is already another process's.
    FaultyFs.beforeNext("openSync", () =>
      FaultyFs.beforeNext("openSync", () => {
        writeFileSync(path.join(procfs, "77/stat"), stat(77, "901"))
      }))
    assert.strictEqual(
      (yield* Effect.flip(facts(77))).message,
      "The pane could not be verified: what procfs says of its process cannot be read."
    )
    assert.strictEqual((yield* facts(77)).startTicks, "901")
  }))
