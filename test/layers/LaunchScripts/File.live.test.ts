import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import * as IdsNode from "../../../src/layers/Ids/Node.ts"
import * as LaunchScriptsFile from "../../../src/layers/LaunchScripts/File.ts"
import * as StateDirFile from "../../../src/layers/StateDir/File.ts"
import { Ids } from "../../../src/services/Ids.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { contract, session } from "./Contract.ts"

const place = Effect.map(temporaryFolder, (parent) => {
  const [root, other, state] = [join(parent, "root"), join(parent, "other"), join(parent, "state")]
  fs.mkdirSync(root)
  fs.mkdirSync(other)
  const over = (ids: Layer.Layer<Ids>) =>
    LaunchScriptsFile.layer.pipe(
      Layer.provide(Layer.merge(StateDirFile.layer, ids)),
      Layer.provide(platformAs("linux", parent)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]]))))
    )
  const folder = join(state, createHash("sha256").update(root).digest("hex").slice(0, 24), "launch")
  return {
    root,
    other,
    over,
    folder,
    layer: over(IdsNode.layer),
    read: (path: string) => fs.existsSync(path) ? fs.readFileSync(path, "utf8") : undefined
  }
})

contract("files", place)

const one = Layer.succeed(Ids, { uuid: Effect.succeed("one"), nonce: Effect.succeed("nonce") })

describe("launch scripts on disk", () => {
  it.scopedLive("are in the root's state folder, private, and leave no temporary", () =>
    Effect.gen(function*() {
      const { folder, layer, root } = yield* place
      const path = yield* (yield* session(layer)).write(root, () => "x")
      assert.strictEqual(path, join(folder, fs.readdirSync(folder).join("|")))
      assert.strictEqual(fs.statSync(path).mode & 0o777, 0o700)
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o700)
    }))

  const planted: ReadonlyArray<readonly [string, (file: string, elsewhere: string) => void, string]> = [
    ["a file", (file) => fs.writeFileSync(file, "theirs"), "it exists already"],
    ["a link to nowhere", (file, elsewhere) => fs.symlinkSync(join(elsewhere, "none"), file), "it exists already"],
    ["a folder", (file) => fs.mkdirSync(file), "it exists already"]
  ]
  for (const [what, plant, says] of planted) {
    it.scopedLive(`${what} in the way of a script is neither replaced nor followed, nor said to be the script`, () =>
      Effect.gen(function*() {
        const { folder, other, over, root } = yield* place
        const scripts = yield* session(over(one))
        yield* scripts.write(root, () => "first")
        const file = join(folder, "one.sh")
        fs.rmSync(file)
        plant(file, other)
        const before = fs.lstatSync(file).ino
        const failed = yield* Effect.flip(scripts.write(root, () => "second"))
        assert.include(failed.message, says)
        assert.strictEqual(fs.lstatSync(file).ino, before)
        assert.deepStrictEqual(fs.readdirSync(folder), ["one.sh"])
        assert.deepStrictEqual(fs.readdirSync(other), [])
      }))
  }

  const folders: ReadonlyArray<readonly [string, (folder: string, elsewhere: string) => void, string]> = [
    ["a link", (folder, elsewhere) => fs.symlinkSync(elsewhere, folder), "it is a symbolic link"],
    ["a file", (folder) => fs.writeFileSync(folder, ""), "it is not a folder"],
    ["open to others", (folder) => {
      fs.mkdirSync(folder)
      fs.chmodSync(folder, 0o755)
    }, "its permissions are not 700"]
  ]
  for (const [what, plant, says] of folders) {
    it.scopedLive(`nothing is written when their folder is ${what}`, () =>
      Effect.gen(function*() {
        const { folder, layer, other, root } = yield* place
        const scripts = yield* session(layer)
        yield* scripts.write(root, () => "first")
        fs.rmSync(folder, { recursive: true })
        plant(folder, other)
        const failed = yield* Effect.flip(scripts.write(root, () => "second"))
        assert.include(failed.message, says)
        assert.deepStrictEqual(fs.readdirSync(other), [])
      }))
  }
})
