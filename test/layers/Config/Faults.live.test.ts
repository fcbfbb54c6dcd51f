import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import { join } from "node:path"
import { beforeEach, vi } from "vitest"
import { SessionReplaced } from "../../../src/domain/SessionErrors.ts"
import { encodeConfig, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import * as FaultyFs from "../../support/FaultyFs.ts"
import { disk } from "./Disk.ts"
import { coordinatorId, first, session } from "./Sessions.ts"

vi.mock(
  "node:fs",
  async (importOriginal) =>
    (await import("../../support/FaultyFs.ts")).over(() => importOriginal<typeof import("node:fs")>())
)

const original = encodeConfig(first())
const change = (config: TeamConfig) => Either.right<TeamConfig>({ ...config, "x-changed": true })

/** A root with the first team file in it, a session, and what it logged. */
const ready = Effect.gen(function*() {
  const place = yield* disk
  const services = yield* session(place.layer)
  yield* place.write(original)
  FaultyFs.reset()
  const asBefore = Effect.sync(() => {
    FaultyFs.reset()
    assert.deepStrictEqual(fs.readdirSync(place.folder), ["config.json"])
    assert.strictEqual(fs.readFileSync(place.file, "utf8"), original)
  })
  return { ...place, ...services, asBefore }
})

beforeEach(FaultyFs.reset)

describe("a disk that fails under an update", () => {
  const cases = [
    ["openSync", "EMFILE", "the system answered EMFILE"],
    ["writeFileSync", "ENOSPC", "the disk is full"],
    ["fsync", "EIO", "the system answered EIO"],
    ["renameSync", "EACCES", "this user is not allowed to access it"]
  ] as const
  for (const [operation, code, says] of cases) {
    it.scopedLive(`${operation} answers ${code}: the file is as it was and no temporary is left`, () =>
      Effect.gen(function*() {
        const { asBefore, file, reader, root, store } = yield* ready
        yield* reader.read(root)
        FaultyFs.reset()
        // The first open reads the file, since it is young, and the first write makes the lock.
        FaultyFs.fail(operation, ["openSync", "writeFileSync"].includes(operation) ? { code, call: 2 } : { code })
        const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
        assert.deepInclude(failed, { _tag: "ConfigNotWritten", reason: "write_failed", file })
        assert.include(failed.message, says)
        yield* asBefore
      }))
  }

  it.scopedLive("a temporary that cannot be removed does not hide the first error", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      FaultyFs.fail("writeFileSync", { code: "ENOSPC", call: 2 })
      FaultyFs.fail("unlinkSync", { code: "EIO" })
      const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
      assert.include(failed.message, "the disk is full")
      assert.strictEqual(fs.readFileSync(file, "utf8"), original)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.scopedLive("a lock that cannot be made: nothing is written, and the sentence says what to mend", () =>
    Effect.gen(function*() {
      const { asBefore, root, state, store } = yield* ready
      FaultyFs.fail("writeFileSync", { code: "ENOSPC" })
      const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
      assert.strictEqual(failed._tag, "StateUnusable")
      assert.include(failed.message, state)
      assert.include(failed.message, "the disk is full")
      yield* asBefore
    }))

  it.scopedLive("once renamed the update has happened: a folder that cannot be synced is a warning", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      FaultyFs.fail("fsync", { code: "EIO", call: 2 })
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => said.push(String(message)))
      const written = yield* store.update(root, coordinatorId, Effect.void, change).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      assert.strictEqual(FaultyFs.count("fsync"), 2)
      assert.strictEqual(fs.readFileSync(file, "utf8"), encodeConfig(written))
      assert.lengthOf(said, 1)
      assert.include(said[0], "not yet certain to survive a crash")
    }))

  it.scopedLive("a rename that came through although it failed has happened", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      FaultyFs.fail("renameSync", { code: "ETIMEDOUT", late: true })
      const written = yield* store.update(root, coordinatorId, Effect.void, change)
      assert.strictEqual(fs.readFileSync(file, "utf8"), encodeConfig(written))
      assert.strictEqual(FaultyFs.count("fsync"), 2)
    }))

  it.scopedLive("publishes the bytes with one rename and two syncs, named by process, start and number", () =>
    Effect.gen(function*() {
      const { folder, root, store } = yield* ready
      let seen: ReadonlyArray<string> = []
      FaultyFs.beforeNext("renameSync", () => {
        seen = fs.readdirSync(folder)
      })
      yield* store.update(root, coordinatorId, Effect.void, change)
      assert.lengthOf(seen, 2)
      const ticks = fs.readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /, "").split(" ")[19]
      assert.match(seen[1] ?? "", new RegExp(`^config\\.json\\.${process.pid}-${ticks}-\\d+\\.tmp$`))
      assert.deepStrictEqual(fs.readdirSync(folder), ["config.json"])
      assert.strictEqual(FaultyFs.count("renameSync"), 1)
      assert.strictEqual(FaultyFs.count("fsync"), 2)
    }))

  it.scopedLive("keeps the permissions of a file that its owner closed", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      fs.chmodSync(file, 0o600)
      yield* store.update(root, coordinatorId, Effect.void, change)
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
    }))
})

describe("first publication on a bad day", () => {
  for (const code of ["EPERM", "ENOTSUP", "EXDEV", "ENOSYS"]) {
    it.scopedLive(`without hard links (${code}) it fails and leaves nothing`, () =>
      Effect.gen(function*() {
        const { folder, root, store } = yield* ready
        fs.rmSync(folder, { recursive: true })
        FaultyFs.fail("linkSync", { code })
        const failed = yield* Effect.flip(store.publish(root, first(), Effect.void))
        assert.deepInclude(failed, { _tag: "ConfigNotWritten", reason: "no_hard_links" })
        assert.include(failed.message, "its file system has no hard links")
        assert.deepStrictEqual(fs.readdirSync(folder), [])
      }))
  }

  it.scopedLive("a fence that closes between the temporary and the link: nothing is published, nothing is left", () =>
    Effect.gen(function*() {
      const { folder, root, store } = yield* ready
      fs.rmSync(folder, { recursive: true })
      let seen: ReadonlyArray<string> = []
      const fence = Effect.suspend(() => {
        seen = fs.existsSync(folder) ? fs.readdirSync(folder) : []
        return seen.length === 0 ? Effect.void : new SessionReplaced()
      })
      assert.instanceOf(yield* Effect.flip(store.publish(root, first(), fence)), SessionReplaced)
      assert.lengthOf(seen, 1)
      assert.match(seen[0] ?? "", /\.tmp$/)
      assert.strictEqual(FaultyFs.count("linkSync"), 0)
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }))

  it.scopedLive("the folder is 0755 and the file 0644", () =>
    Effect.gen(function*() {
      const { file, folder, root, store } = yield* ready
      fs.rmSync(folder, { recursive: true })
      yield* store.publish(root, first(), Effect.void)
      const umask = process.umask()
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o755 & ~umask)
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o644 & ~umask)
      assert.deepStrictEqual(fs.readdirSync(folder), ["config.json"])
    }))
})

describe("an update that is interrupted", () => {
  it.scopedLive("at any look at the fence: the file is as it was and no temporary is left", () =>
    Effect.gen(function*() {
      const { asBefore, file, root, store } = yield* ready
      let passes = 0
      for (;;) {
        const reached = yield* Deferred.make<void>()
        let looks = 0
        const fence = Effect.suspend(() => {
          looks += 1
          return looks > passes ? Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
        })
        const fiber = yield* Effect.fork(store.update(root, coordinatorId, fence, change))
        const first = yield* Effect.raceFirst(
          Effect.as(Deferred.await(reached), "fence" as const),
          Effect.as(Fiber.await(fiber), "done" as const)
        )
        if (first === "done") break
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        yield* asBefore
        passes += 1
      }
      assert.strictEqual(passes, 5)
      assert.include(fs.readFileSync(file, "utf8"), "x-changed")
    }))

  it.scopedLive("while the disk syncs: it ends with the sync, and no temporary is left", () =>
    Effect.gen(function*() {
      const { asBefore, root, store } = yield* ready
      const syncing = yield* Deferred.make<void>()
      FaultyFs.beforeNext("fsync", () => Deferred.unsafeDone(syncing, Effect.void))
      const disk = FaultyFs.holdSync()
      const fiber = yield* Effect.fork(store.update(root, coordinatorId, Effect.void, change))
      yield* Deferred.await(syncing)
      const ending = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.yieldNow()
      disk.release()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(ending)))
      yield* asBefore
    }))

  it.scopedLive("while it waits for another update: the other one is not disturbed", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      const syncing = yield* Deferred.make<void>()
      FaultyFs.beforeNext("fsync", () => Deferred.unsafeDone(syncing, Effect.void))
      const disk = FaultyFs.holdSync()
      const one = yield* Effect.fork(store.update(root, coordinatorId, Effect.void, change))
      yield* Deferred.await(syncing)
      const two = yield* Effect.fork(store.update(root, coordinatorId, Effect.void, () => Either.left("never asked")))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(two)))
      disk.release()
      assert.strictEqual((yield* Fiber.join(one))["x-changed"], true)
      assert.include(fs.readFileSync(file, "utf8"), "x-changed")
    }))
})

describe("an outside edit during an update", () => {
  it.scopedLive("starts again with what is there now, and loses neither", () =>
    Effect.gen(function*() {
      const { folder, root, store, write } = yield* ready
      FaultyFs.beforeNext("fsync", () => Effect.runSync(write(encodeConfig({ ...first(), "x-outside": 1 }))))
      const written = yield* store.update(root, coordinatorId, Effect.void, change)
      assert.deepInclude(written, { "x-outside": 1, "x-changed": true })
      assert.deepStrictEqual(fs.readdirSync(folder), ["config.json"])
    }))

  it.scopedLive("gives up after three new starts, and leaves the editor's file", () =>
    Effect.gen(function*() {
      const { file, folder, root, store, write } = yield* ready
      let edits = 0
      const edit = (): void => {
        edits += 1
        Effect.runSync(write(encodeConfig({ ...first(), "x-edit": edits })))
        FaultyFs.beforeNext("fsync", edit)
      }
      FaultyFs.beforeNext("fsync", edit)
      const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
      FaultyFs.reset()
      assert.deepInclude(failed, { _tag: "ConfigNotWritten", reason: "conflict" })
      assert.strictEqual(edits, 4)
      assert.strictEqual(fs.readFileSync(file, "utf8"), encodeConfig({ ...first(), "x-edit": 4 }))
      assert.deepStrictEqual(fs.readdirSync(folder), ["config.json"])
    }))

  it.scopedLive("an edit that breaks the file is reported, not repaired", () =>
    Effect.gen(function*() {
      const { file, root, store, write } = yield* ready
      FaultyFs.beforeNext("fsync", () => Effect.runSync(write("{ half")))
      const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
      assert.deepInclude(failed, { _tag: "ConfigUnusable", reason: "invalid" })
      assert.strictEqual(fs.readFileSync(file, "utf8"), "{ half")
    }))

  it.scopedLive("a file that is removed meanwhile stays removed", () =>
    Effect.gen(function*() {
      const { file, folder, root, store } = yield* ready
      FaultyFs.beforeNext("fsync", () => fs.rmSync(file))
      const failed = yield* Effect.flip(store.update(root, coordinatorId, Effect.void, change))
      assert.deepInclude(failed, { _tag: "ConfigNotWritten", reason: "absent" })
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }))
})

describe("reading is cheap", () => {
  const old = new Date("2025-01-01T00:00:00Z")

  it.scopedLive("an unchanged file is not opened again once its stat proves it", () =>
    Effect.gen(function*() {
      const { file, reader, root } = yield* ready
      fs.utimesSync(file, old, old)
      const before = yield* reader.read(root)
      assert.strictEqual(FaultyFs.count("openSync"), 1)
      const after = yield* reader.read(root)
      assert.strictEqual(FaultyFs.count("openSync"), 1)
      assert.strictEqual(Option.getOrThrow(after), Option.getOrThrow(before))
    }))

  it.scopedLive("a young file is read again, but parsed only when it differs", () =>
    Effect.gen(function*() {
      const { file, reader, root } = yield* ready
      const future = new Date(Date.now() + 3_600_000)
      fs.utimesSync(file, future, future)
      const before = yield* reader.read(root)
      const after = yield* reader.read(root)
      assert.strictEqual(FaultyFs.count("openSync"), 2)
      assert.strictEqual(Option.getOrThrow(after), Option.getOrThrow(before))
    }))

  it.scopedLive("sees an edit of the same size with its times put back", () =>
    Effect.gen(function*() {
      const { file, reader, root, write } = yield* ready
      fs.utimesSync(file, old, old)
      yield* reader.read(root)
      yield* write(original.replace("41000", "41001"))
      fs.utimesSync(file, old, old)
      assert.strictEqual(Option.getOrThrow(yield* reader.read(root)).agents[0]?.port, 41_001)
    }))

  it.scopedLive("sees another file renamed over it, and its removal", () =>
    Effect.gen(function*() {
      const { file, folder, reader, root } = yield* ready
      fs.utimesSync(file, old, old)
      yield* reader.read(root)
      const other = join(folder, "other")
      fs.writeFileSync(other, original.replace("41000", "41002"))
      fs.utimesSync(other, old, old)
      fs.renameSync(other, file)
      assert.strictEqual(Option.getOrThrow(yield* reader.read(root)).agents[0]?.port, 41_002)
      fs.rmSync(file)
      assert.deepStrictEqual(yield* reader.read(root), Option.none())
    }))

  it.scopedLive("what this process wrote is compared, not parsed", () =>
    Effect.gen(function*() {
      const { reader, root, store } = yield* ready
      const written = yield* store.update(root, coordinatorId, Effect.void, change)
      assert.strictEqual(Option.getOrThrow(yield* reader.read(root)), written)
    }))
})
