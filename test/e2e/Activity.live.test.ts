import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { join } from "node:path"
import * as Canaries from "../support/Canaries.ts"
import { temporaryFolder } from "../support/TempFolder.ts"
import { activity, named } from "./ActivityScenarios.ts"

describe("what a worker does", () => {
  activity("1.6.0", named)

  it.scopedLive("would be found in any file, in whatever form, and in the name of one", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [planted, other] = [Canaries.make("planted"), Canaries.make("not planted")]
      const forms = planted.pieces.flatMap(Canaries.forms)
      fs.mkdirSync(join(folder, "deep"))
      for (const [at, [, bytes]] of forms.entries()) {
        fs.writeFileSync(join(folder, "deep", `${at}`), Buffer.concat([Buffer.alloc(9, 0xff), bytes, Buffer.alloc(2)]))
      }
      // Within what is encoded as a whole, at each of the three places that base64 knows.
      for (const before of ["", "x", "xx"]) {
        const coded = Buffer.from(`${before}${planted.text}!`).toString("base64")
        fs.writeFileSync(join(folder, `whole${before}`), coded)
      }
      fs.writeFileSync(join(folder, `${planted.text}.md`), "")
      fs.writeFileSync(join(folder, "clean"), "nothing")
      const { files, found } = Canaries.search(folder, [planted, other])
      assert.deepStrictEqual(new Set(found.map(({ what }) => what)), new Set(["planted"]))
      assert.sameMembers([...new Set(found.map(({ file }) => file))], files.filter((file) => file !== "clean"))
      for (const before of ["", "x", "xx"]) {
        assert.strictEqual(found.filter(({ file }) => file === `whole${before}`).length >= planted.pieces.length, true)
      }
    }))
})
