import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { ConfigUnusable } from "../../../src/domain/ConfigErrors.ts"
import { encodeConfig } from "../../../src/domain/TeamConfig.ts"
import type { UpdateFailed } from "../../../src/services/ConfigStore.ts"
import { type Disk, disk } from "./Disk.ts"
import { coordinatorId, fileLayer, first, session } from "./Sessions.ts"

const valid = encodeConfig(first())
const asRoot = process.getuid?.() === 0

/** Every entry below a folder with what it is, its times and its content: nothing may touch any of it. */
const picture = (folder: string): ReadonlyArray<string> =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort().map((name) => {
    const entry = join(folder, name)
    const stat = fs.lstatSync(entry)
    const content = stat.isFile() ? fs.readFileSync(entry).toString("base64") : ""
    return [name, stat.ino, stat.mode, stat.uid, stat.isDirectory() ? "" : stat.mtimeMs, content].join(" ")
  })

const write = (place: Disk, content: string | Uint8Array): void => {
  fs.mkdirSync(place.folder, { recursive: true })
  fs.writeFileSync(place.file, content)
}

interface Planted {
  readonly what: string
  readonly reason: ConfigUnusable["reason"]
  readonly says: string
  /** Plants it, and answers the path that the error names. */
  readonly plant: (place: Disk) => string
  /** Whether only reading its content shows what is wrong. */
  readonly content?: boolean
  readonly needsRoot?: boolean
}

const everyone = "every user of this machine may write to it (chmod o-w mends that)"
const foreign = "it belongs to another user of this machine"
const link = "it is a symbolic link, and links are not followed"

const planted: ReadonlyArray<Planted> = [
  {
    what: "a linked .pi-intercom",
    reason: "unsafe",
    says: link,
    plant: ({ folder, root }) => {
      fs.mkdirSync(join(root, "real"))
      fs.writeFileSync(join(root, "real", "config.json"), valid)
      fs.symlinkSync("real", folder)
      return folder
    }
  },
  {
    what: "a .pi-intercom that is a file",
    reason: "unsafe",
    says: "it is not a folder",
    plant: ({ folder }) => {
      fs.writeFileSync(folder, "")
      return folder
    }
  },
  {
    what: "a linked config.json",
    reason: "unsafe",
    says: link,
    plant: (place) => {
      fs.mkdirSync(place.folder)
      fs.writeFileSync(join(place.root, "real.json"), valid)
      fs.symlinkSync("../real.json", place.file)
      return place.file
    }
  },
  {
    what: "a link to nothing",
    reason: "unsafe",
    says: link,
    plant: (place) => {
      fs.mkdirSync(place.folder)
      fs.symlinkSync("nothing", place.file)
      return place.file
    }
  },
  {
    what: "a pipe",
    reason: "unsafe",
    says: "it is not a regular file",
    plant: (place) => {
      fs.mkdirSync(place.folder)
      execFileSync("mkfifo", [place.file])
      return place.file
    }
  },
  {
    what: "a device",
    reason: "unsafe",
    says: "it is not a regular file",
    needsRoot: true,
    plant: (place) => {
      fs.mkdirSync(place.folder)
      execFileSync("mknod", [place.file, "c", "1", "5"])
      return place.file
    }
  },
  {
    what: "a folder for the file",
    reason: "unsafe",
    says: "it is not a regular file",
    plant: (place) => {
      fs.mkdirSync(place.file, { recursive: true })
      return place.file
    }
  },
  {
    what: "a root that everyone may write to",
    reason: "unsafe",
    says: everyone,
    plant: (place) => {
      write(place, valid)
      fs.chmodSync(place.root, 0o777)
      return place.root
    }
  },
  {
    what: "a .pi-intercom that everyone may write to",
    reason: "unsafe",
    says: everyone,
    plant: (place) => {
      write(place, valid)
      fs.chmodSync(place.folder, 0o757)
      return place.folder
    }
  },
  {
    what: "a config.json that everyone may write to",
    reason: "unsafe",
    says: everyone,
    plant: (place) => {
      write(place, valid)
      fs.chmodSync(place.file, 0o646)
      return place.file
    }
  },
  ...(["root", "folder", "file"] as const).map((which): Planted => ({
    what: `another user's ${which}`,
    reason: "unsafe",
    says: foreign,
    needsRoot: true,
    plant: (place) => {
      write(place, valid)
      fs.chownSync(place[which], 65_534, 65_534)
      return place[which]
    }
  })),
  ...([
    ["9 MB", "too_large", "it is larger than 8 MiB", Buffer.alloc(9_000_000, 0x20)],
    [
      "invalid UTF-8",
      "invalid",
      "it is not valid UTF-8 text",
      Buffer.from(valid.replace("delegates", "\u00ff"), "latin1")
    ],
    ["truncated JSON", "invalid", "it is not valid JSON (line 11, column 7)", valid.slice(0, -20)],
    ["an empty file", "invalid", "it is empty", ""],
    [
      "300 agents",
      "invalid",
      "agents: at most 256 workers beside the coordinator",
      JSON.stringify({ ...first(), agents: Array.from({ length: 300 }, () => first().agents[0]) })
    ],
    [
      "a __proto__ key",
      "invalid",
      "it contains the key __proto__",
      valid.replace("\"port\"", "\"__proto__\": {}, \"port\"")
    ],
    [
      "an escaped __proto__ key",
      "invalid",
      "it contains the key __proto__",
      valid.replace("\"port\"", "\"\\u005F\\u005fproto__\": {}, \"port\"")
    ],
    ["another version", "invalid", "version: must be 1", valid.replace("\"version\": 1", "\"version\": 2")]
  ] as const).map(([what, reason, says, content]): Planted => ({
    what,
    reason,
    says,
    content: true,
    plant: (place) => {
      write(place, content)
      return place.file
    }
  }))
]

describe("team files that nobody should trust", () => {
  for (const { content = false, needsRoot = false, plant, reason, says, what } of planted) {
    it.scopedLive.skipIf(needsRoot && !asRoot)(
      `${what}: refused in one sentence, nothing changed`,
      () =>
        Effect.gen(function*() {
          const place = yield* disk
          const file = plant(place)
          const before = picture(place.root)
          const { reader, store } = yield* session(place.layer)
          const discovered = reader.discover(join(place.root, "api"))
          if (content) assert.deepStrictEqual(yield* discovered, Option.some(place.root))
          const attempts: Readonly<
            Record<
              string,
              Effect.Effect<unknown, UpdateFailed>
            >
          > = {
            ...(content ? {} : { discovered }),
            read: reader.read(place.root),
            again: reader.read(place.root),
            publish: store.publish(place.root, first(), Effect.void),
            update: store.update(place.root, coordinatorId, Effect.void, (config) => Either.right({ ...config, x: 1 }))
          }
          for (const [method, attempted] of Object.entries(attempts)) {
            const failed = yield* Effect.flip(attempted)
            assert.deepStrictEqual({ ...failed }, { ...new ConfigUnusable({ reason, file, detail: says }) }, method)
            assert.strictEqual(
              failed.message,
              `${file} cannot be used for a team: ${says}. Nothing was changed. Mend it and try again; a session that says it is inactive needs /reload.`
            )
          }
          yield* store.ensureGitignore(place.root).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
          const after = picture(place.root).filter((line) => !line.startsWith(".pi-intercom/.gitignore "))
          assert.deepStrictEqual(after, before)
        })
    )
  }

  it.scopedLive("discovers only upward, nearest first, and passes a .pi-intercom without a team file", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { reader } = yield* session(place.layer)
      fs.mkdirSync(join(place.root, "api", ".pi-intercom"))
      assert.deepStrictEqual(yield* reader.discover(join(place.root, "api", "inner")), Option.none())
      write(place, valid)
      assert.deepStrictEqual(yield* reader.discover(join(place.root, "inside", "inner")), Option.some(place.root))
      fs.writeFileSync(join(place.root, "api", ".pi-intercom", "config.json"), "{}")
      assert.deepStrictEqual(
        yield* reader.discover(join(place.root, "api", "inner")),
        Option.some(join(place.root, "api"))
      )
      assert.deepStrictEqual(yield* reader.discover(dirname(place.root)), Option.none())
    }))

  it.scopedLive("PI_INTERCOM_ROOT pins the root, absolute and checked", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const pinned = (root: string) => session(fileLayer(place.state, { PI_INTERCOM_ROOT: root }))
      const inside = yield* pinned(join(place.root, "inside"))
      assert.deepStrictEqual(yield* inside.reader.discover("/"), Option.some(join(place.root, "api")))
      const relative = yield* pinned("team")
      assert.include((yield* Effect.flip(relative.reader.discover("/"))).message, "it is not an absolute path")
      const missing = yield* pinned(join(place.root, "missing"))
      assert.include((yield* Effect.flip(missing.reader.discover("/"))).message, "it does not exist")
      fs.chmodSync(place.root, 0o777)
      const open = yield* pinned(place.root)
      assert.include((yield* Effect.flip(open.reader.discover("/"))).message, everyone)
    }))

  it.scopedLive("makes a .gitignore where there is none, and leaves one that is there", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { store } = yield* session(place.layer)
      const file = join(place.folder, ".gitignore")
      yield* store.ensureGitignore(place.root)
      assert.strictEqual(fs.readFileSync(file, "utf8"), "logs/\nreports/\n*.tmp\n")
      fs.writeFileSync(file, "mine")
      yield* store.ensureGitignore(place.root)
      assert.strictEqual(fs.readFileSync(file, "utf8"), "mine")
      assert.deepStrictEqual(fs.readdirSync(place.folder), [".gitignore"])
    }))
})
