import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { layer } from "../../../src/layers/ReportStore/File.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { contract, report, session } from "./Contract.ts"

const asRoot = process.getuid?.() === 0

const place = Effect.map(temporaryFolder, (parent) => {
  const [root, other] = [join(parent, "team"), join(parent, "other")]
  for (const one of [root, other]) fs.mkdirSync(join(one, ".pi-intercom"), { recursive: true })
  const folder = join(root, ".pi-intercom", "reports")
  return { layer, root, other, folder, file: join(folder, `${createHash("sha256").update("a").digest("hex")}.json`) }
})

contract("files", place)

describe("report files", () => {
  it.scopedLive("are private, named by the hash of the session, and leave no temporary", () =>
    Effect.gen(function*() {
      const { file, folder, root } = yield* place
      const store = yield* session(layer)
      yield* store.save(root, report("a"))
      assert.deepStrictEqual(JSON.parse(fs.readFileSync(file, "utf8")), report("a"))
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o700)
      assert.lengthOf(fs.readdirSync(folder), 1)
    }))

  const valid = JSON.stringify(report("a"))
  const noReport: ReadonlyArray<readonly [string, (file: string) => void]> = [
    ["a link", (file) => {
      fs.writeFileSync(`${file}.real`, valid)
      fs.symlinkSync(`${file}.real`, file)
    }],
    ["a pipe", (file) => execFileSync("mkfifo", [file])],
    ["a folder", (file) => fs.mkdirSync(file)],
    ["more than 8 KiB", (file) => fs.writeFileSync(file, valid + " ".repeat(8192))],
    ["no JSON", (file) => fs.writeFileSync(file, valid.slice(0, -1))],
    ["another version", (file) => fs.writeFileSync(file, valid.replace("\"version\":1", "\"version\":2"))],
    ["another session's report", (file) => fs.writeFileSync(file, JSON.stringify(report("b")))],
    ["a summary that is blank", (file) => fs.writeFileSync(file, JSON.stringify({ ...report("a"), summary: " " }))],
    ...(asRoot
      ? [
        ["another user's file", (file: string) => {
          fs.writeFileSync(file, valid)
          fs.chownSync(file, 65_534, 65_534)
        }] as const
      ]
      : [])
  ]
  for (const [what, plant] of noReport) {
    it.scopedLive(`${what} is no report, and hides no other`, () =>
      Effect.gen(function*() {
        const { file, root } = yield* place
        const store = yield* session(layer)
        yield* store.save(root, report("c"))
        plant(file)
        assert.deepStrictEqual(yield* store.read(root, ["a", "c"]), {
          reports: new Map([["c", report("c")]]),
          unread: new Set<string>()
        })
      }))
  }

  it.scopedLive("neither reads nor writes through a linked folder", () =>
    Effect.gen(function*() {
      const { folder, other, root } = yield* place
      const store = yield* session(layer)
      yield* store.save(other, report("a"))
      const target = join(other, ".pi-intercom", "reports")
      fs.symlinkSync(target, folder)
      assert.deepStrictEqual(yield* store.read(root, ["a"]), { reports: new Map(), unread: new Set(["a"]) })
      const failed = yield* Effect.flip(store.save(root, report("b")))
      assert.include(failed.message, "it is a symbolic link")
      assert.lengthOf(fs.readdirSync(target), 1)
    }))

  it.scopedLive("makes no folder behind a linked .pi-intercom", () =>
    Effect.gen(function*() {
      const { other, root } = yield* place
      const store = yield* session(layer)
      fs.rmdirSync(join(root, ".pi-intercom"))
      fs.symlinkSync(join(other, ".pi-intercom"), join(root, ".pi-intercom"))
      const failed = yield* Effect.flip(store.save(root, report("a")))
      assert.include(failed.message, "it is a symbolic link")
      assert.deepStrictEqual(fs.readdirSync(join(other, ".pi-intercom")), [])
    }))
})
