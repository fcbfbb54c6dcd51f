import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { join } from "node:path"
import { afterEach, vi } from "vitest"
import { layer } from "../../../src/layers/ReportStore/File.ts"
import * as FaultyFs from "../../support/FaultyFs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { report, session } from "./Contract.ts"

vi.mock(
  "node:fs",
  async (importOriginal) =>
    (await import("../../support/FaultyFs.ts")).over(() => importOriginal<typeof import("node:fs")>())
)
afterEach(FaultyFs.reset)

describe("what is remembered of reports", () => {
  it.scopedLive("is that of the sessions that were asked for the last time, so that it never grows", () =>
    Effect.gen(function*() {
      const root = yield* temporaryFolder
      fs.mkdirSync(join(root, ".pi-intercom"))
      const store = yield* session(layer)
      for (const id of ["a", "b"]) yield* store.save(root, report(id))
      const folder = join(root, ".pi-intercom/reports")
      for (const name of fs.readdirSync(folder)) fs.utimesSync(join(folder, name), 1, 1)
      const opened = (...ids: ReadonlyArray<string>) =>
        Effect.suspend(() => {
          FaultyFs.reset()
          return Effect.map(store.read(root, ids), ({ reports }) => {
            assert.deepStrictEqual([...reports.keys()], ids)
            return FaultyFs.count("openSync")
          })
        })
      assert.strictEqual(yield* opened("a", "b"), 2)
      assert.strictEqual(yield* opened("a", "b"), 0)
      assert.strictEqual(yield* opened("a"), 0)
      assert.strictEqual(yield* opened("a", "b"), 1)
    }))
})
