import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { posix, win32 } from "node:path"
import { ProjectDirectory, Timestamp, Token } from "../../src/domain/Primitives.ts"

const isDirectory = Schema.is(ProjectDirectory)

describe("ProjectDirectory", () => {
  it.each([".", "a", "a/b", "services/api.v2", ".hidden", "a b/ü", "...", "a..b", "-x"])("takes %j", (path) => {
    assert.isTrue(isDirectory(path))
  })
  it.each([
    "",
    "..",
    "../a",
    "a/..",
    "a/../b",
    "./a",
    "a/",
    "a//b",
    "/",
    "/a",
    "\\a",
    "a\\b",
    "\\\\server\\share",
    "C:",
    "C:/a",
    "c:a",
    "C:\\a",
    "a\0b",
    "a/.",
    "x".repeat(4097)
  ])("refuses %j", (path) => {
    assert.isFalse(isDirectory(path))
  })
  it("never leaves the root", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: FastCheck.constantFrom(".", "/", "\\", "a", ":") }), (path) => {
        if (!isDirectory(path)) return
        for (const { resolve, sep } of [posix, win32]) {
          const root = resolve("/root/project")
          assert.isTrue(`${resolve(root, path)}${sep}`.startsWith(`${root}${sep}`), path)
        }
      })
    )
  })
})

describe("Token and Timestamp", () => {
  it.each([["a", true], ["A-9", true], ["", false], ["a.b", false], ["a\n", false], ["x".repeat(129), false]])(
    "token %j: %s",
    (text, valid) => assert.strictEqual(Schema.is(Token)(text), valid)
  )
  it.each([
    ["2025-11-02T10:15:30.123Z", true],
    ["2025-11-02T10:15:30+01:00", true],
    ["2025-11-02T10:15Z", true],
    ["2025-11-02", false],
    ["2025-11-31T25:00:00Z", false],
    ["yesterday", false],
    ["2025-11-02T10:15:30.0000000000000000Z", false]
  ])("time %j: %s", (text, valid) => assert.strictEqual(Schema.is(Timestamp)(text), valid))
})
