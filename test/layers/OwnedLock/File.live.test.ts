import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import { beforeEach, vi } from "vitest"
import { IdentifiedProcess, parseStat } from "../../../src/domain/IdentifiedProcess.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as File from "../../../src/layers/OwnedLock/File.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { OwnedLock } from "../../../src/services/OwnedLock.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { StateDir } from "../../../src/services/StateDir.ts"
import * as FaultyFs from "../../support/FaultyFs.ts"
import { holdConfig } from "../../support/LockHeld.ts"
import { contract, processOf, refusal } from "./Contract.ts"
import { disk } from "./Disk.ts"

vi.mock(
  "node:fs",
  async (importOriginal) =>
    (await import("../../support/FaultyFs.ts")).over(() => importOriginal<typeof import("node:fs")>())
)
beforeEach(FaultyFs.reset)

contract("on disk", disk)

const alpha = SessionId.make("alpha")
const decode = Schema.decodeSync(Schema.parseJson(IdentifiedProcess))

/** The locks of this very process in that folder, and what it knows of others. */
const real = (folder: string) =>
  File.layer.pipe(
    Layer.provideMerge(Layer.provide(Procfs.layer, Platform.layer)),
    Layer.provide(Layer.succeed(StateDir, { base: Effect.succeed(folder), of: () => Effect.succeed(folder) }))
  )

/** What is logged while an effect runs. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return Effect.map(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)), (value) => ({ lines, value }))
}

describe("locks on disk", () => {
  it.scopedLive("hold the identity of this process, for this user only", () =>
    Effect.gen(function*() {
      const { config, folder, root } = yield* disk
      yield* Effect.gen(function*() {
        const [lock, { own }] = [yield* OwnedLock, yield* ProcessIdentity]
        yield* holdConfig(lock, root)
        assert.deepStrictEqual(decode(fs.readFileSync(config, "utf8")), own)
        assert.strictEqual(fs.statSync(config).mode & 0o777, 0o600)
        assert.strictEqual(fs.statSync(config).nlink, 1)
      }).pipe(Effect.provide(real(folder)))
    }))

  it.scopedLive("of a real process are respected while it runs, and taken over once it was killed", () =>
    Effect.gen(function*() {
      const { config, folder, held, plant, root } = yield* disk
      const child = spawn("sleep", ["1000"], { stdio: "ignore" })
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
      yield* Effect.gen(function*() {
        const [lock, { own }] = [yield* OwnedLock, yield* ProcessIdentity]
        const seen = parseStat(fs.readFileSync(`/proc/${child.pid}/stat`, "utf8"))
        assert(seen._tag === "Found" && child.pid !== undefined)
        plant(config, { ...own, pid: child.pid, startTicks: seen.startTicks })
        const { error } = yield* refusal(lock.config(root, Effect.void))
        assert(error._tag === "LockNotTaken")
        assert.deepStrictEqual([error.reason, error.pid], ["held", child.pid])
        child.kill("SIGKILL")
        yield* Effect.promise(() => ended)
        yield* lock.config(
          root,
          Effect.sync(() => assert.deepStrictEqual(decode(fs.readFileSync(config, "utf8")), own))
        )
        assert.deepStrictEqual(held(), [])
      }).pipe(Effect.provide(real(folder)))
    }))

  it.scopedLive("that a person removed and another took are not released by us", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const locks = yield* processOf(place, 11)
      const [ours, theirs] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.extend(holdConfig(locks, place.root), ours)
      fs.rmSync(place.config)
      yield* Scope.extend(holdConfig(locks, place.root), theirs)
      yield* Scope.close(ours, Exit.void)
      assert.deepStrictEqual(place.held(), [place.config])
      yield* Scope.close(theirs, Exit.void)
      assert.deepStrictEqual(place.held(), [])
    }))

  it.scopedLive("that a person removed are no problem when they are released", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config } = yield* processOf(place, 11)
      const { lines } = yield* logged(config(place.root, Effect.sync(() => fs.rmSync(place.config))))
      assert.deepStrictEqual(lines, [])
    }))

  it.scopedLive("a planted link, folder, pipe, open or oversized file is named, and neither followed nor removed", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config } = yield* processOf(place, 11)
      const content = JSON.stringify({ pid: 10 })
      place.die(10)
      const target = `${place.folder}/target`
      fs.writeFileSync(target, content, { mode: 0o600 })
      const planted: ReadonlyArray<readonly [string, () => void]> = [
        ["symbolic link", () => fs.symlinkSync(target, place.config)],
        ["symbolic link", () => fs.symlinkSync("/nowhere", place.config)],
        ["not a regular file", () => fs.mkdirSync(place.config)],
        ["not a regular file", () => void execFileSync("mkfifo", [place.config])],
        ["permissions are not 600", () => {
          fs.writeFileSync(place.config, content)
          fs.chmodSync(place.config, 0o644)
        }],
        ["not a lock of Intercom's", () => fs.writeFileSync(place.config, content.padEnd(5000), { mode: 0o600 })],
        ["not a lock of Intercom's", () => fs.writeFileSync(place.config, "", { mode: 0o600 })],
        ["not a lock of Intercom's", () => fs.writeFileSync(place.config, "{\"pid\":-1}", { mode: 0o600 })]
      ]
      for (const [expected, plant] of planted) {
        plant()
        const { error, waited } = yield* refusal(config(place.root, Effect.void))
        assert.include(error.message, expected)
        assert.include(error.message, place.config)
        assert.strictEqual(waited, 0)
        assert.deepStrictEqual(place.held(), [place.config, target])
        fs.rmSync(place.config, { recursive: true })
      }
      assert.strictEqual(fs.readFileSync(target, "utf8"), content)
    }))

  it.scopedLive("on a disk that cannot make them are refused, and nothing is left", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config, session } = yield* processOf(place, 11)
      const faults: ReadonlyArray<readonly [...Parameters<typeof FaultyFs.fail>, string]> = [
        ["linkSync", { code: "EPERM" }, "no hard links"],
        ["linkSync", { code: "EIO" }, "the system answered EIO"],
        ["writeFileSync", { code: "EACCES" }, "this user is not allowed to access it"],
        ["writeFileSync", { code: "ENOSPC", late: true }, "the disk is full"],
        ["fsync", { code: "EIO" }, "the system answered EIO"]
      ]
      for (const [operation, fault, expected] of faults) {
        FaultyFs.fail(operation, fault)
        const { error } = yield* refusal(
          operation === "fsync" ? session(place.root, alpha) : config(place.root, Effect.void)
        )
        assert.strictEqual(error._tag, "StateUnusable")
        assert.include(error.message, expected)
        FaultyFs.reset()
        assert.deepStrictEqual(place.held(), [])
      }
    }))

  it.scopedLive("a temporary's name that an earlier process left is not used", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config } = yield* processOf(place, 11)
      FaultyFs.fail("writeFileSync", { code: "EEXIST", call: 1 })
      yield* config(place.root, Effect.void)
      assert.strictEqual(FaultyFs.count("writeFileSync"), 2)
      FaultyFs.fail("writeFileSync", { code: "EEXIST" })
      assert.strictEqual((yield* refusal(config(place.root, Effect.void))).error._tag, "StateUnusable")
    }))

  it.scopedLive("a release that fails is logged, and the work's result stands", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config } = yield* processOf(place, 11)
      const { lines, value } = yield* logged(config(
        place.root,
        Effect.sync(() => {
          FaultyFs.fail("unlinkSync", { code: "EIO" })
          return "done"
        })
      ))
      assert.strictEqual(value, "done")
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /^A lock could not be released: .*config\.lock cannot be used/)
    }))

  it.scopedLive("only the lock of a session, held for hours, is synced", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { config, session } = yield* processOf(place, 11)
      yield* config(place.root, Effect.void)
      assert.strictEqual(FaultyFs.count("fsync"), 0)
      yield* Effect.scoped(session(place.root, alpha))
      assert.strictEqual(FaultyFs.count("fsync"), 1)
    }))
})
