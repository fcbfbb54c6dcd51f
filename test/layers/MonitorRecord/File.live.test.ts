import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { maxOwnedMonitorBytes } from "../../../src/domain/OwnedMonitor.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as File from "../../../src/layers/MonitorRecord/File.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { begun, contract, recordsOf } from "./Contract.ts"

const ada = SessionId.make("ada")
const name = `monitor-${createHash("sha256").update("ada").digest("hex").slice(0, 24)}.json`

const place = Effect.map(temporaryFolder, (base) => {
  for (const folder of ["team", "other"]) fs.mkdirSync(join(base, folder), { mode: 0o700 })
  const state = Layer.succeed(StateDir, {
    base: Effect.succeed(base),
    of: (root) => Effect.succeed(join(base, basename(root)))
  })
  const layer = File.layer.pipe(Layer.provide(state))
  return { layer, root: "/team", other: "/other", folder: join(base, "team"), file: join(base, "team", name) }
})

contract("file", place)

describe("monitor-<24 hex>.json", () => {
  it.scopedLive("is private, as the specification has it, and the only file that stays", () =>
    Effect.gen(function*() {
      const { file, folder, layer, root } = yield* place
      const records = yield* recordsOf(layer)
      const record = { ...begun("ada"), pane: "herdr s:w1 w1:p9 term-9", stage: "submitted" } as const
      yield* records.write(root, record)
      assert.deepStrictEqual(JSON.parse(fs.readFileSync(file, "utf8")), record)
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(fs.readdirSync(folder), [name])
      assert.strictEqual((yield* records.read(root, ada)).file, file)
    }))

  const valid = JSON.stringify(begun("ada"))
  const text = (content: string) => (file: string) => fs.writeFileSync(file, content, { mode: 0o600 })
  const unusable: ReadonlyArray<readonly [string, (file: string) => void, RegExp]> = [
    ["nothing", text(""), /it is not a record of a monitor pane: .*remove it: Intercom then makes a new one/],
    ["no JSON", text(valid.slice(1)), /it is not a record/],
    ["another version", text(valid.replace("1", "2")), /version: must be 1/],
    ["an unknown key", text(valid.replace("\"stage\"", "\"more\":1,\"stage\"")), /there is a key that does not belong/],
    ["an unknown stage", text(valid.replace("creating", "done")), /stage/],
    ["a pane that is none", text(valid.replace("\"stage\"", "\"pane\":null,\"stage\"")), /pane/],
    ["no caller", text(valid.replace("w1:p1", "")), /caller/],
    ["another session", text(JSON.stringify(begun("bea"))), /it is another session's/],
    ["more than 16 KiB", text(valid + " ".repeat(maxOwnedMonitorBytes)), /it is larger than 16 KiB/],
    ["readable by others", (file) => fs.writeFileSync(file, valid, { mode: 0o644 }), /permissions are not 600/],
    ["a link", (file) => {
      text(valid)(`${file}.real`)
      fs.symlinkSync(`${file}.real`, file)
    }, /it is a symbolic link/],
    ["a pipe", (file) => execFileSync("mkfifo", [file]), /it is not a regular file/],
    ["a folder", (file) => fs.mkdirSync(file), /it is not a regular file/]
  ]
  for (const [what, plant, sentence] of unusable) {
    it.scopedLive(`${what} is an error that says how to mend it, and is never written over`, () =>
      Effect.gen(function*() {
        const { file, folder, layer, root } = yield* place
        const records = yield* recordsOf(layer)
        plant(file)
        const before = [fs.lstatSync(file).ino, fs.readdirSync(folder)]
        for (
          const error of [
            yield* Effect.flip(records.read(root, ada)),
            yield* Effect.flip(records.write(root, begun("ada")))
          ]
        ) {
          assert.match(error.message, sentence)
          assert.include(error.message, file)
          assert.notInclude(error.message, "\n")
        }
        assert.deepStrictEqual([fs.lstatSync(file).ino, fs.readdirSync(folder)], before)
      }))
  }
})
