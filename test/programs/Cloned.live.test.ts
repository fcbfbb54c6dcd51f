import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as FileMutationQueue from "../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as TeamFiles from "../../src/layers/TeamFiles.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { overHttp } from "../support/HttpEnds.ts"
import { cannot, one, picture, things } from "../support/Planted.ts"
import * as SecretsMemory from "../support/SecretsMemory.ts"
import { makeMachineOn } from "../support/SimulatedTeam.ts"
import { lure, squatter, tactics } from "../support/Squatter.ts"
import { temporaryFolder } from "../support/TempFolder.ts"

const files = TeamFiles.layer.pipe(Layer.provide(Layer.merge(Platform.layer, FileMutationQueue.layer)))

/** Nobody is there, most likely; who is, is passed by. */
const anyPort = 21_411

const agent = (sessionId: string, name: string, port: number, more: object = {}) => ({
  sessionId,
  name,
  coordinator: name === "Coordinator",
  description: `Does things. ${lure}`,
  port,
  projectDirectory: ".",
  ...more
})
const team = (coordinatorPort: number, workerPort = anyPort, coordinator = "c-1") => ({
  version: 1,
  multiplexer: "tmux",
  agents: [agent(coordinator, "Coordinator", coordinatorPort), agent("w-1", "Ada", workerPort)]
})

/** A fresh clone on a real disk: the project, its `.pi-intercom`, a folder outside it, and a stranger on a port. */
const clone = Effect.gen(function*() {
  const base = yield* temporaryFolder
  const [root, outside, state] = [path.join(base, "clone"), path.join(base, "outside"), path.join(base, "state")]
  fs.mkdirSync(root)
  fs.mkdirSync(outside)
  fs.writeFileSync(path.join(outside, "file"), "precious")
  const [tactic] = tactics.filter(({ what }) => what === "the right health, no proof")
  assert.isDefined(tactic)
  const stranger = yield* squatter(tactic, "c-1", SecretsMemory.keyOf("unknown"))
  const environment = ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]]))
  const here = files.pipe(Layer.provide(Layer.setConfigProvider(environment)))
  const machine = overHttp(makeMachineOn(here, () => here))
  const folder = path.join(root, ".pi-intercom")
  return { root, outside, state, folder, file: path.join(folder, "config.json"), stranger, ...machine }
})
type Clone = Effect.Effect.Success<typeof clone>

const write = ({ file, folder }: Clone, content: unknown): void => {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(file, typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content))
}

type Session = Effect.Effect.Success<ReturnType<Clone["open"]>>
/** The one sentence that leaves a session inactive. */
const sentenceOf = ({ started }: Session): string =>
  Option.getOrThrow(
    Option.map(Exit.isFailure(started) ? Cause.failureOption(started.cause) : Option.none(), (error) => error.message)
  )

/** Opens a session in the clone: inactive with one sentence that names `named`, nothing touched, nobody called. */
const assertInactive = (place: Clone, named: string, says: string) =>
  Effect.gen(function*() {
    const before = [picture(place.root), picture(place.outside)]
    const session = yield* place.open("c-1", place.root)
    const sentence = sentenceOf(session)
    assert.strictEqual(
      sentence,
      `${named} cannot be used for a team: ${says}. Nothing was changed. Mend it and try again; a session that says it is inactive needs /reload.`
    )
    assert.deepStrictEqual([picture(place.root), picture(place.outside)], before)
    assert.deepStrictEqual(session.host.texts, [])
    assert.deepStrictEqual(place.stranger.heard, [])
  })

describe("what a clone has in the place of .pi-intercom or its team file", () => {
  const where = [[".pi-intercom", "folder", "it is not a folder"], [
    "config.json",
    "file",
    "it is not a regular file"
  ]] as const
  for (const [name, which, wrongKind] of where) {
    for (const thing of things) {
      const why = cannot(thing)
      it.scopedLive.skipIf(why !== undefined)(
        `${name} is ${thing.what}: inactive${why === undefined ? "" : ` (skipped: ${why})`}`,
        () =>
          Effect.gen(function*() {
            const place = yield* clone
            if (which === "file") fs.mkdirSync(place.folder)
            fs.writeFileSync(path.join(place.outside, "config.json"), JSON.stringify(team(place.stranger.port)))
            yield* thing.plant(place[which], place.outside)
            const says = thing.what.startsWith("a link")
              ? "it is a symbolic link, and links are not followed"
              : wrongKind
            yield* assertInactive(place, place[which], says)
          })
      )
    }
  }

  const valid = (port: number) => JSON.stringify(team(port), null, 2)
  const deep = (text: string, inner: string) => text.replace("\"version\": 1", `"version": 1, "x": ${inner}`)
  const contents: ReadonlyArray<readonly [what: string, content: (port: number) => string | Buffer, says: string]> = [
    [
      "a byte order mark",
      (port) => `\ufeff${valid(port)}`,
      "it is not valid JSON (it begins with a byte order mark; save it without one)"
    ],
    ["UTF-16", (port) => Buffer.from(`\ufeff${valid(port)}`, "utf16le"), "it is not valid UTF-8 text"],
    [
      "100,000 arrays deep",
      (port) => deep(valid(port), "[".repeat(100_000) + "]".repeat(100_000)),
      "it is nested more than 64 levels deep"
    ],
    [
      "100,000 objects deep",
      (port) => deep(valid(port), "{\"a\":".repeat(100_000) + "1" + "}".repeat(100_000)),
      "it is nested more than 64 levels deep"
    ],
    [
      "65 levels",
      (port) => deep(valid(port), "[".repeat(65) + "]".repeat(65)),
      "it is nested more than 64 levels deep"
    ],
    [
      "__proto__ at the top",
      (port) => deep(valid(port), "1").replace("\"x\"", "\"__proto__\""),
      "it contains the key __proto__"
    ],
    [
      "__proto__ below an unknown key",
      (port) => deep(valid(port), "[{\"__proto__\": {\"agents\": []}}]"),
      "it contains the key __proto__"
    ],
    ["__proto__ in a handoff", (port) =>
      JSON.stringify({
        ...team(port),
        agents: [agent("c-1", "Coordinator", port), agent("w-1", "Ada", anyPort, { handoff: 0 })]
      }).replace(
        "\"handoff\":0",
        "\"handoff\":{\"version\":1,\"jobId\":\"j\",\"summary\":\"s\",\"updatedAt\":\"2030-01-01T00:00:00Z\",\"__proto__\":{}}"
      ), "it contains the key __proto__"],
    ["only NUL", () => Buffer.alloc(4096), "it is not valid JSON (line 1, column 1)"],
    ["9 MB of open brackets", () => "[".repeat(9 * 1024 * 1024), "it is larger than 8 MiB"],
    [
      "8 MiB of open brackets",
      () => "[".repeat(8 * 1024 * 1024),
      "it is not valid JSON (it breaks off at line 1, column 8388609)"
    ]
  ]
  for (const [what, content, says] of contents) {
    it.scopedLive(`a team file with ${what}: inactive`, () =>
      Effect.gen(function*() {
        const place = yield* clone
        write(place, content(place.stranger.port))
        yield* assertInactive(place, place.file, says)
      }))
  }

  it.scopedLive("constructor and prototype are keys like any other: kept, and they change nothing", () =>
    Effect.gen(function*() {
      const place = yield* clone
      const strange = {
        constructor: { prototype: { polluted: 1 } },
        prototype: { polluted: 1 },
        toString: "x",
        hasOwnProperty: 1
      }
      const held = team(place.stranger.port)
      write(place, { ...held, ...strange, agents: held.agents.map((each) => ({ ...each, ...strange })) })
      const session = yield* place.open("c-1", place.root)
      assert.isTrue(Exit.isSuccess(session.started))
      const saved = JSON.parse(fs.readFileSync(place.file, "utf8"))
      assert.notStrictEqual(saved.agents[0].port, place.stranger.port, "it was written back")
      for (const holder of [saved, ...saved.agents]) {
        for (const [key, value] of Object.entries(strange)) assert.deepStrictEqual(holder[key], value)
      }
      assert.notProperty({}, "polluted")
    }))
})

describe("somebody else's team file", () => {
  it.scopedLive("makes the session an anonymous worker that says so and sends nobody a body", () =>
    Effect.gen(function*() {
      const place = yield* clone
      write(place, team(place.stranger.port))
      const before = picture(place.root)
      const session = yield* place.open("mine", place.root)
      assert.isTrue(Exit.isSuccess(session.started))
      assert.deepStrictEqual(session.host.tools, ["intercom_report_status"])
      yield* eventuallyTrue("it says that it found no coordinator", Effect.sync(() => session.host.notices.length > 0))
      assert.include(session.host.notices.join(), "did not prove to be that session, so nothing was sent")
      assert.include(yield* session.command(""), "anonymous")
      const refused = yield* Effect.flip(session.tool("intercom_report_status"))
      assert.include(refused.message, "nothing was sent")
      for (const text of place.stranger.heard) {
        assert.match(text, /^GET \/intercom\/health HTTP\/1\.1\r\n[^{]*\r\n\r\n$/)
      }
      assert.notInclude([...session.host.texts, ...session.host.notices].join(), lure)
      assert.deepStrictEqual(session.host.texts, [])
      assert.deepStrictEqual(picture(place.root), before)
    }))

  it.scopedLive("with a secret, locks and state beside it: none of that is looked at", () =>
    Effect.gen(function*() {
      const place = yield* clone
      write(place, team(place.stranger.port))
      const session24 = createHash("sha256").update("mine").digest("hex").slice(0, 24)
      const key24 = createHash("sha256").update(place.root).digest("hex").slice(0, 24)
      const identity = JSON.stringify({ version: 1, pid: 1, start: "1", boot: "x", token: lure })
      for (
        const base of [
          place.folder,
          path.join(place.folder, "state"),
          path.join(place.folder, key24),
          path.join(place.root, ".local", "state", "pi-intercom", key24)
        ]
      ) {
        fs.mkdirSync(base, { recursive: true })
        fs.writeFileSync(path.join(base, "secret"), Buffer.alloc(32, 7), { mode: 0o600 })
        for (
          const lock of [
            "config.lock",
            `session-${session24}.lock`,
            "monitor.lock",
            "config.lock.takeover",
            `session-${session24}.lock.takeover`
          ]
        ) {
          fs.writeFileSync(path.join(base, lock), identity, { mode: 0o600 })
        }
        fs.mkdirSync(path.join(base, "inbox"))
        fs.writeFileSync(path.join(base, "inbox", "1.json"), JSON.stringify({ message: lure }))
        fs.writeFileSync(path.join(base, "launch.sh"), `#!/bin/sh\necho ${lure} > ${place.outside}/ran\n`, {
          mode: 0o755
        })
      }
      const before = [picture(place.root), picture(place.outside)]
      const session = yield* place.open("mine", place.root)
      assert.isTrue(Exit.isSuccess(session.started))
      yield* eventuallyTrue("it says that it found no coordinator", Effect.sync(() => session.host.notices.length > 0))
      const secret = fs.readFileSync(path.join(place.state, key24, "secret"))
      assert.notDeepEqual(secret, Buffer.alloc(32, 7))
      assert.deepStrictEqual([picture(place.root), picture(place.outside)], before)
      assert.deepStrictEqual(session.host.texts, [])
    }))

  it.scopedLive("prepared reports do not show in a team that is started there", () =>
    Effect.gen(function*() {
      const place = yield* clone
      const reports = path.join(place.folder, "reports")
      fs.mkdirSync(reports, { recursive: true })
      for (const id of ["mine", "w-1", "c-1", "*"]) {
        const name = id === "*" ? "any" : createHash("sha256").update(id).digest("hex")
        const record = {
          version: 1,
          sessionId: id === "w-1" ? "c-1" : id,
          status: "ready_for_review",
          summary: lure,
          updatedAt: "2030-01-01T00:00:00.000Z"
        }
        fs.writeFileSync(path.join(reports, `${name}.json`), JSON.stringify(record))
      }
      const before = picture(reports)
      const session = yield* place.open("mine", place.root)
      yield* session.command("start")
      yield* session.tool("intercom_configure_worker", {
        sessionId: "w-1",
        port: anyPort,
        projectDirectory: ".",
        name: "Ada",
        description: "x"
      })
      const status = yield* session.tool("intercom_worker_status", {})
      assert.strictEqual(JSON.parse(status).workers[0].report, null)
      assert.notInclude(status, lure)
      assert.deepStrictEqual(picture(reports), before)
    }))
})

describe("what a clone has beside its team file", () => {
  const planted = [
    ...things,
    { what: "a file", plant: (at: string) => Effect.sync(() => fs.writeFileSync(at, lure)) },
    {
      what: "a folder",
      plant: (at: string) => Effect.sync(() => fs.mkdirSync(at))
    }
  ]
  for (const name of [".gitignore", "logs", "reports"]) {
    for (const thing of planted) {
      if (name === "reports" && thing.what === "a folder") continue
      const why = cannot(thing)
      it.scopedLive.skipIf(why !== undefined)(
        `${name} is ${thing.what}: left as it is, and the team works${why === undefined ? "" : ` (skipped: ${why})`}`,
        () =>
          Effect.gen(function*() {
            const place = yield* clone
            write(place, team(anyPort))
            const at = path.join(place.folder, name)
            yield* thing.plant(at, place.outside)
            const before = [one(at), ...picture(place.outside)]
            const coordinator = yield* place.open("c-1", place.root)
            assert.isTrue(Exit.isSuccess(coordinator.started))
            const worker = yield* place.open("w-1", place.root)
            const reported = yield* Effect.either(
              worker.tool("intercom_report_work", { status: "blocked", summary: "Stuck." })
            )
            const { workers: [row] } = JSON.parse(yield* coordinator.tool("intercom_worker_status", {}))
            if (name === "reports") {
              assert.include(reported._tag === "Left" ? reported.left.message : "", "The report could not be saved")
              assert.include(reported._tag === "Left" ? reported.left.message : "", at)
              assert.strictEqual(row.report, null)
            } else {
              assert.strictEqual(reported._tag, "Right")
              assert.strictEqual(row.report.summary, "Stuck.")
            }
            assert.deepStrictEqual([one(at), ...picture(place.outside)], before)
          })
      )
    }
  }

  for (const thing of things) {
    const why = cannot(thing)
    it.scopedLive.skipIf(why !== undefined)(
      `a report record is ${thing.what}: no report, and a true one takes its place${
        why === undefined ? "" : ` (skipped: ${why})`
      }`,
      () =>
        Effect.gen(function*() {
          const place = yield* clone
          write(place, team(anyPort))
          const reports = path.join(place.folder, "reports")
          fs.mkdirSync(reports)
          const at = path.join(reports, `${createHash("sha256").update("w-1").digest("hex")}.json`)
          yield* thing.plant(at, place.outside)
          const before = [one(at), ...picture(place.outside)]
          const coordinator = yield* place.open("c-1", place.root)
          const status = JSON.parse(yield* coordinator.tool("intercom_worker_status", {}))
          assert.strictEqual(status.workers[0].report, null)
          assert.deepStrictEqual([one(at), ...picture(place.outside)], before)
          const worker = yield* place.open("w-1", place.root)
          yield* worker.tool("intercom_report_work", { status: "blocked", summary: "Stuck." })
          assert.strictEqual(JSON.parse(fs.readFileSync(at, "utf8")).summary, "Stuck.")
          assert.deepStrictEqual(picture(place.outside), before.slice(1))
        })
    )
  }
})
