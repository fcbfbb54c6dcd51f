import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { join } from "node:path"
import { StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import * as SecretsExisting from "../../../src/layers/Secrets/Existing.ts"
import * as SecretsFile from "../../../src/layers/Secrets/File.ts"
import * as StateDirFile from "../../../src/layers/StateDir/File.ts"
import { Secrets } from "../../../src/services/Secrets.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

/** One root, as a session and as somebody who writes nothing see its secret. */
const place = Effect.gen(function*() {
  const parent = yield* temporaryFolder
  const [root, base] = [join(parent, "root"), join(parent, "state")]
  fs.mkdirSync(root)
  const built = (secrets: typeof SecretsFile.layer) =>
    Layer.build(secrets.pipe(
      Layer.provideMerge(StateDirFile.layer),
      Layer.provide(platformAs("linux", parent)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", base]]))))
    ))
  const session = yield* built(SecretsFile.layer)
  const reader = yield* built(SecretsExisting.layer)
  return {
    root,
    base,
    folder: Context.get(session, StateDir).of(root),
    make: Context.get(session, Secrets).key(root),
    see: Context.get(reader, Secrets).key(root)
  }
})

describe("the secret that sessions have made", () => {
  it.scopedLive("is the sessions' own, is not made when it is missing, and is found once it is there", () =>
    Effect.gen(function*() {
      const { base, make, see } = yield* place
      assert.instanceOf(yield* Effect.flip(see), StateUnusable)
      assert.isFalse(fs.existsSync(base))
      const key = yield* make
      assert.isTrue((yield* see).verify("text", key.mac("text")))
    }))

  it.scopedLive("is refused where anybody else could have put it", () =>
    Effect.gen(function*() {
      const { base, folder, make, see } = yield* place
      yield* make
      const own = yield* folder
      const file = join(own, "secret")
      const refused = (change: () => void, undo: () => void) =>
        Effect.gen(function*() {
          change()
          assert.instanceOf(yield* Effect.flip(see), StateUnusable)
          undo()
        })
      yield* refused(() => fs.chmodSync(file, 0o644), () => fs.chmodSync(file, 0o600))
      yield* refused(() => fs.chmodSync(own, 0o755), () => fs.chmodSync(own, 0o700))
      yield* refused(() => fs.chmodSync(base, 0o777), () => fs.chmodSync(base, 0o700))
      const bytes = fs.readFileSync(file)
      yield* refused(() => fs.writeFileSync(file, "short"), () => fs.writeFileSync(file, bytes))
      yield* refused(() => {
        fs.renameSync(own, `${own}-moved`)
        fs.symlinkSync(`${own}-moved`, own)
      }, () => {
        fs.unlinkSync(own)
        fs.renameSync(`${own}-moved`, own)
      })
      assert.isDefined(yield* see)
    }))
})
