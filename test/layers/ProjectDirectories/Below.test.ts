import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import { ProjectDirectory } from "../../../src/domain/Primitives.ts"
import { placeBelow } from "../../../src/layers/ProjectDirectories/File.ts"

type Row = readonly [root: string, real: string, below: string | undefined]

const windows: ReadonlyArray<Row> = [
  ["C:\\team", "C:\\team", "."],
  ["C:\\team", "C:\\team\\api\\v1", "api/v1"],
  // Windows keeps the case of names and compares without it.
  ["C:\\Team", "c:\\TEAM\\Api", "Api"],
  ["C:\\", "C:\\api", "api"],
  ["C:\\team", "C:\\team\\..api", "..api"],
  ["C:\\team", "C:\\teams", undefined],
  ["C:\\team", "C:\\", undefined],
  ["C:\\team", "C:\\other\\team", undefined],
  ["C:\\team", "D:\\team\\api", undefined],
  ["C:\\team", "\\\\server\\share\\team", undefined],
  ["\\\\server\\share\\team", "\\\\server\\share\\team\\api", "api"],
  ["\\\\server\\share\\team", "\\\\server\\other\\team\\api", undefined]
]
const posix: ReadonlyArray<Row> = [
  ["/team", "/team", "."],
  ["/team", "/team/api/v1", "api/v1"],
  ["/team", "/TEAM/api", undefined],
  ["/", "/api", "api"],
  ["/team", "/team/..api", "..api"],
  ["/team", "/teams", undefined],
  ["/team", "/", undefined],
  // A legal name here, which a team file cannot hold: it would be two folders on Windows.
  ["/team", "/team/a\\b", "a\\b"]
]

describe("where a directory lies below the root", () => {
  for (const [name, rules, rows] of [["Windows", path.win32, windows], ["POSIX", path.posix, posix]] as const) {
    it(`by the rules of ${name}`, () => {
      for (const [root, real, below] of rows) {
        assert.strictEqual(placeBelow(root, real, rules), below, `${root} ${real}`)
      }
    })

    it(`by the rules of ${name}: every place below the root is found again, and a team file can hold it`, () => {
      const part = FastCheck.stringMatching(/^[\wé .-]{1,12}$/).filter((text) => !/^\.*$/.test(text.trim()))
      const root = name === "Windows" ? "C:\\te am" : "/te am"
      FastCheck.assert(FastCheck.property(FastCheck.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const real = [root, ...parts].join(rules.sep)
        const below = placeBelow(root, real, rules)
        assert.strictEqual(below, parts.join("/"))
        assert.isTrue(Schema.is(ProjectDirectory)(below))
        assert.strictEqual(rules.resolve(root, below ?? ""), real)
      }))
    })
  }
})
