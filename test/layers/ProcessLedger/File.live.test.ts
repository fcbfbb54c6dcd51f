import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { emptyLedger, maxLedgerBytes } from "../../../src/domain/Ledger.ts"
import * as File from "../../../src/layers/ProcessLedger/File.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { attempt, contract, ledgerOf, put } from "./Contract.ts"

const place = Effect.map(temporaryFolder, (base) => {
  for (const name of ["team", "other"]) fs.mkdirSync(join(base, name), { mode: 0o700 })
  const state = Layer.succeed(StateDir, {
    base: Effect.succeed(base),
    of: (root) => Effect.succeed(join(base, basename(root)))
  })
  const layer = File.layer.pipe(Layer.provide(state))
  return { layer, root: "/team", other: "/other", folder: join(base, "team"), file: join(base, "team/processes.json") }
})

contract("file", place)

describe("processes.json", () => {
  it.scopedLive("is private, as the specification has it, and the only file that stays", () =>
    Effect.gen(function*() {
      const { file, folder, layer, root } = yield* place
      yield* (yield* ledgerOf(layer)).change(root, put("a", "tmux w p"))
      assert.deepStrictEqual(JSON.parse(fs.readFileSync(file, "utf8")), {
        version: 1,
        attempts: { a: attempt("tmux w p") },
        jobs: {}
      })
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(fs.readdirSync(folder), ["processes.json"])
    }))

  it.scopedLive("a change of nothing writes nothing", () =>
    Effect.gen(function*() {
      const { folder, layer, root } = yield* place
      yield* (yield* ledgerOf(layer)).change(root, (ledger) => ledger)
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }))

  const valid = `{"version":1,"attempts":{},"jobs":{}}`
  const text = (content: string) => (file: string) => fs.writeFileSync(file, content, { mode: 0o600 })
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`s-${index}`, attempt()]))
  const unusable: ReadonlyArray<readonly [string, (file: string) => void, RegExp]> = [
    ["nothing", text(""), /it is not a record of resumed and closing workers: .*remove it: Intercom then makes a new/],
    ["no JSON", text(valid.slice(1)), /it is not a record/],
    ["another version", text(valid.replace("1", "2")), /version: must be 1/],
    ["an unknown key", text(valid.replace("\"jobs\"", "\"more\":1,\"jobs\"")), /there is a key that does not belong/],
    ["a session id that is none", text(valid.replace("{}", `{"":${JSON.stringify(attempt())}}`)), /it is not a record/],
    ["an attempt without a time", text(valid.replace("{}", `{"a":{}}`)), /attempts\.a\.at: is missing/],
    ["an attempt with more", text(valid.replace("{}", `{"a":{"at":"${attempt().at}","x":1}}`)), /does not belong here/],
    ["257 attempts", text(JSON.stringify({ ...emptyLedger, attempts: many })), /attempts: at most 256 attempts/],
    ["a job without a process", text(valid.replace("\"jobs\":{}", "\"jobs\":{\"j\":{}}")), /jobs\.j/],
    ["more than 1 MiB", text(valid + " ".repeat(maxLedgerBytes)), /it is larger than 1 MiB/],
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
        const ledger = yield* ledgerOf(layer)
        plant(file)
        const before = [fs.lstatSync(file).ino, fs.readdirSync(folder)]
        const [read, changed] = [
          yield* Effect.flip(ledger.read(root)),
          yield* Effect.flip(ledger.change(root, put("a")))
        ]
        for (const error of [read, changed]) {
          assert.match(error.message, sentence)
          assert.include(error.message, file)
          assert.notInclude(error.message, "\n")
        }
        assert.deepStrictEqual([fs.lstatSync(file).ino, fs.readdirSync(folder)], before)
      }))
  }

  it.scopedLive("what cannot be written leaves the file as it was, and no temporary", () =>
    Effect.gen(function*() {
      const { file, folder, layer, root } = yield* place
      const ledger = yield* ledgerOf(layer)
      yield* ledger.change(root, put("a"))
      const before = fs.readFileSync(file, "utf8")
      const ids = Array.from({ length: 250 }, (_, index) => `${index}-${"\u0001".repeat(250)}`)
      const failed = yield* Effect.flip(ledger.change(root, (one) => ({
        ...one,
        attempts: Object.fromEntries(ids.map((id) => [id, attempt("\u0001".repeat(1024))]))
      })))
      assert.match(failed.message, /it would become larger than 1 MiB/)
      assert.strictEqual(fs.readFileSync(file, "utf8"), before)
      assert.deepStrictEqual(fs.readdirSync(folder), ["processes.json"])
    }))
})
