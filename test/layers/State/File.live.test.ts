import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash, createHmac } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import * as SecretsFile from "../../../src/layers/Secrets/File.ts"
import * as StateDirFile from "../../../src/layers/StateDir/File.ts"
import { Platform } from "../../../src/services/Platform.ts"
import { Secrets } from "../../../src/services/Secrets.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

const asRoot = process.getuid?.() === 0

/** A session's own build of the layers in this environment. */
const session = (environment: Readonly<Record<string, string>>, home: string, os: Platform["Type"]["os"] = "linux") =>
  Effect.map(
    Layer.build(
      SecretsFile.layer.pipe(
        Layer.provideMerge(StateDirFile.layer),
        Layer.provide(platformAs(os, home)),
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))))
      )
    ),
    (services) => ({ state: Context.get(services, StateDir), secrets: Context.get(services, Secrets) })
  )

const place = Effect.map(temporaryFolder, (parent) => {
  const [root, home] = [join(parent, "root"), join(parent, "home")]
  fs.mkdirSync(root)
  fs.mkdirSync(home)
  const key = createHash("sha256").update(root).digest("hex").slice(0, 24)
  const base = join(home, "state")
  return { parent, root, home, key, base, folder: join(base, key), environment: { PI_INTERCOM_STATE_DIR: base } }
})

const modeOf = (path: string): number => fs.statSync(path).mode & 0o777

describe("the state directory", () => {
  it.scopedLive("is where the environment says, first match first, and asking creates nothing", () =>
    Effect.gen(function*() {
      const { home, parent } = yield* place
      const base = (environment: Readonly<Record<string, string>>, os?: Platform["Type"]["os"]) =>
        Effect.flatMap(session(environment, home, os), ({ state }) => state.base)
      const everything = {
        PI_INTERCOM_STATE_DIR: `${parent}/chosen`,
        XDG_STATE_HOME: `${parent}/xdg`,
        LOCALAPPDATA: `${parent}/local`
      }
      const { PI_INTERCOM_STATE_DIR: _, ...without } = everything
      assert.strictEqual(yield* base(everything), `${parent}/chosen`)
      assert.strictEqual(yield* base(without), `${parent}/xdg/pi-intercom`)
      assert.strictEqual(yield* base({}), `${home}/.local/state/pi-intercom`)
      assert.strictEqual(yield* base({ XDG_STATE_HOME: "relative" }), `${home}/.local/state/pi-intercom`)
      assert.strictEqual(yield* base({ XDG_STATE_HOME: "" }), `${home}/.local/state/pi-intercom`)
      assert.strictEqual(yield* base(without, "win32"), `${parent}/local/pi-intercom`)
      const relative = yield* Effect.flip(base({ PI_INTERCOM_STATE_DIR: "state" }))
      assert.include(relative.message, "which must hold an absolute path")
      assert.deepStrictEqual(fs.readdirSync(home), [])
      assert.sameMembers(fs.readdirSync(parent), ["home", "root"])
    }))

  it.scopedLive("resolves links above it once, and makes a private folder for a root's real path", () =>
    Effect.gen(function*() {
      const { folder, home, key, parent, root } = yield* place
      fs.symlinkSync("home", join(parent, "linked"))
      fs.symlinkSync("root", join(parent, "linked-root"))
      const { state } = yield* session({ PI_INTERCOM_STATE_DIR: join(parent, "linked", "state") }, home)
      assert.strictEqual(yield* state.base, join(home, "state"))
      assert.strictEqual(yield* state.of(join(parent, "linked-root")), folder)
      assert.strictEqual(yield* state.of(root), folder)
      assert.strictEqual(modeOf(folder), 0o700)
      assert.strictEqual(modeOf(join(home, "state")), 0o700)
      assert.deepStrictEqual(fs.readdirSync(join(home, "state")), [key])
    }))

  it.scopedLive("looks again each time: made anew once removed, refused once opened or replaced by a link", () =>
    Effect.gen(function*() {
      const { environment, folder, home, root } = yield* place
      const { state } = yield* session(environment, home)
      assert.strictEqual(yield* state.of(root), folder)
      fs.rmdirSync(folder)
      assert.strictEqual(yield* state.of(root), folder)
      assert.strictEqual(modeOf(folder), 0o700)
      fs.chmodSync(folder, 0o755)
      assert.include((yield* Effect.flip(state.of(root))).message, "its permissions are not 700")
      fs.chmodSync(folder, 0o700)
      assert.strictEqual(yield* state.of(root), folder)
      fs.renameSync(folder, `${folder}-elsewhere`)
      fs.symlinkSync(`${folder}-elsewhere`, folder)
      assert.include((yield* Effect.flip(state.of(root))).message, "it is a symbolic link")
    }))

  it.scopedLive("a file of somebody's that the variable names is not called ours to remove", () =>
    Effect.gen(function*() {
      const { home, parent, root } = yield* place
      const mine = join(parent, "mine.txt")
      fs.writeFileSync(mine, "mine")
      const { state } = yield* session({ PI_INTERCOM_STATE_DIR: mine }, home)
      const { message } = yield* Effect.flip(state.of(root))
      assert.include(message, `${mine} cannot be used: it is not a folder. Set PI_INTERCOM_STATE_DIR to`)
      assert.strictEqual(fs.readFileSync(mine, "utf8"), "mine")
    }))

  const refused: ReadonlyArray<
    readonly [string, (at: { base: string; folder: string; parent: string }) => void, string, string]
  > = [
    [
      "a link",
      ({ folder, parent }) => {
        fs.mkdirSync(join(parent, "elsewhere"), { mode: 0o700 })
        fs.symlinkSync(join(parent, "elsewhere"), folder)
      },
      "it is a symbolic link",
      "Remove it"
    ],
    ["a file", ({ folder }) => fs.writeFileSync(folder, ""), "it is not a folder", "Remove it"],
    [
      "a folder that others can read",
      ({ folder }) => {
        fs.mkdirSync(folder)
        fs.chmodSync(folder, 0o750)
      },
      "its permissions are not 700",
      "chmod"
    ],
    [
      "a state directory that everyone may write to",
      ({ base }) => fs.chmodSync(base, 0o777),
      "every user",
      "chmod go-w"
    ]
  ]
  for (const [what, plant, says, mend] of refused) {
    it.scopedLive(`refuses ${what} and says how to mend it`, () =>
      Effect.gen(function*() {
        const at = yield* place
        fs.mkdirSync(at.base, { mode: 0o700 })
        plant(at)
        const { secrets, state } = yield* session(at.environment, at.home)
        for (const attempt of [Effect.asVoid(state.of(at.root)), Effect.asVoid(secrets.key(at.root))]) {
          const failed = yield* Effect.flip(attempt)
          assert.strictEqual(failed._tag, "StateUnusable")
          assert.include(failed.message, says)
          assert.include(failed.message, mend)
        }
        assert.isFalse(fs.existsSync(join(at.parent, "elsewhere", "secret")))
      }))
  }

  it.scopedLive.skipIf(!asRoot)("refuses another user's folder and secret", () =>
    Effect.gen(function*() {
      const { environment, folder, home, root } = yield* place
      const one = yield* session(environment, home)
      yield* one.secrets.key(root)
      fs.chownSync(join(folder, "secret"), 65_534, 65_534)
      const two = yield* session(environment, home)
      assert.include((yield* Effect.flip(two.secrets.key(root))).message, "it belongs to another user")
      fs.chownSync(folder, 65_534, 65_534)
      assert.include((yield* Effect.flip(two.state.of(root))).message, "it belongs to another user")
    }))

  it.scopedLive("a state directory that cannot be made is one sentence", () =>
    Effect.gen(function*() {
      const { home, parent, root } = yield* place
      fs.writeFileSync(join(parent, "file"), "")
      const { state } = yield* session({ PI_INTERCOM_STATE_DIR: join(parent, "file", "state") }, home)
      const failed = yield* Effect.flip(state.of(root))
      assert.include(failed.message, "something on the way to it is not a folder")
      assert.include(failed.message, "run /reload")
    }))
})

describe("the secret", () => {
  it.scopedLive("twelve sessions that need it at once agree on 32 bytes that only this user can read", () =>
    Effect.gen(function*() {
      const { environment, folder, home, root } = yield* place
      const keys = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => index),
        () => Effect.flatMap(session(environment, home), ({ secrets }) => secrets.key(root)),
        { concurrency: "unbounded" }
      )
      const file = join(folder, "secret")
      const secret = fs.readFileSync(file)
      assert.lengthOf(secret, 32)
      assert.strictEqual(modeOf(file), 0o600)
      assert.deepStrictEqual(fs.readdirSync(folder), ["secret"])
      const expected = createHmac("sha256", secret).update("text ü").digest("base64url")
      for (const key of keys) assert.strictEqual(key.mac("text ü"), expected)
    }))

  it.scopedLive("verifies exactly its own macs", () =>
    Effect.gen(function*() {
      const { environment, home, parent, root } = yield* place
      const { secrets } = yield* session(environment, home)
      const key = yield* secrets.key(root)
      const mac = key.mac("text")
      assert.isTrue(key.verify("text", mac))
      for (const wrong of ["", mac.slice(1), `${mac}=`, mac.toLowerCase(), `${mac}\n`, key.mac("texT")]) {
        assert.isFalse(key.verify("text", wrong), wrong)
      }
      // 43 characters of base64url carry 2 bits that decoding ignores: only the canonical text may pass.
      const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      const sibling = mac.slice(0, -1) + last[last.indexOf(mac.slice(-1)) ^ 1]
      assert.deepStrictEqual(Buffer.from(sibling, "base64url"), Buffer.from(mac, "base64url"))
      assert.isFalse(key.verify("text", sibling))
      const other = yield* secrets.key(parent)
      assert.isFalse(other.verify("text", mac))
    }))

  it.scopedLive("never shows: neither in the key nor in an error", () =>
    Effect.gen(function*() {
      const { environment, folder, home, root } = yield* place
      const one = yield* session(environment, home)
      const key = yield* one.secrets.key(root)
      const file = join(folder, "secret")
      const secret = fs.readFileSync(file)
      fs.appendFileSync(file, "x")
      const two = yield* session(environment, home)
      const failed = yield* Effect.flip(two.secrets.key(root))
      for (
        const text of [JSON.stringify(key), String(key), JSON.stringify(failed), failed.message, String(failed.stack)]
      ) {
        for (const encoding of ["hex", "base64", "base64url", "latin1"] as const) {
          assert.notInclude(text, secret.toString(encoding))
        }
      }
    }))

  for (
    const [what, plant, says] of [
      ["31 bytes", (file: string) => fs.writeFileSync(file, "x".repeat(31), { mode: 0o600 }), "32 bytes"],
      ["33 bytes", (file: string) => fs.writeFileSync(file, "x".repeat(33), { mode: 0o600 }), "32 bytes"],
      ["no bytes", (file: string) => fs.writeFileSync(file, "", { mode: 0o600 }), "32 bytes"],
      [
        "a readable one",
        (file: string) => fs.writeFileSync(file, "x".repeat(32), { mode: 0o644 }),
        "permissions are not 600"
      ],
      ["a link", (file: string) => fs.symlinkSync("/dev/zero", file), "it is a symbolic link"],
      ["a folder", (file: string) => fs.mkdirSync(file), "it is not a regular file"]
    ] as const
  ) {
    it.scopedLive(`refuses ${what} and leaves it`, () =>
      Effect.gen(function*() {
        const { environment, folder, home, root } = yield* place
        const { secrets, state } = yield* session(environment, home)
        yield* state.of(root)
        const file = join(folder, "secret")
        plant(file)
        const before = fs.lstatSync(file)
        const failed = yield* Effect.flip(secrets.key(root))
        assert.strictEqual(failed.path, file)
        assert.include(failed.message, says)
        assert.deepStrictEqual(fs.lstatSync(file).mtimeMs, before.mtimeMs)
        assert.deepStrictEqual(fs.readdirSync(folder), ["secret"])
      }))
  }

  it.scopedLive("is read again after an error was mended, and not again once it is known", () =>
    Effect.gen(function*() {
      const { environment, folder, home, root } = yield* place
      const { secrets, state } = yield* session(environment, home)
      yield* state.of(root)
      const file = join(folder, "secret")
      fs.writeFileSync(file, "short", { mode: 0o600 })
      yield* Effect.flip(secrets.key(root))
      fs.rmSync(file)
      const mac = (yield* secrets.key(root)).mac("text")
      fs.rmSync(file)
      assert.strictEqual((yield* secrets.key(root)).mac("text"), mac)
    }))
})
