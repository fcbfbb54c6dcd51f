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

describe("a report that cannot be read just now", () => {
  for (const code of ["EACCES", "EIO", "EMFILE"]) {
    it.scopedLive(`is named as such, and hides no other: ${code}`, () =>
      Effect.gen(function*() {
        const root = yield* temporaryFolder
        fs.mkdirSync(join(root, ".pi-intercom"))
        const store = yield* session(layer)
        yield* store.save(root, report("a"))
        yield* store.save(root, report("c"))
        FaultyFs.fail("openSync", { code, call: FaultyFs.count("openSync") + 1 })
        assert.deepStrictEqual(yield* store.read(root, ["a", "b", "c"]), {
          reports: new Map([["c", report("c")]]),
          unread: new Set(["a"])
        })
        FaultyFs.reset()
        assert.deepStrictEqual((yield* store.read(root, ["a"])).reports, new Map([["a", report("a")]]))
      }))
  }
})
