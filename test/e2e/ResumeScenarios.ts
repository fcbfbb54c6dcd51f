import { assert } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { Ledger } from "../../src/domain/Ledger.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import * as LockFile from "../../src/layers/OwnedLock/File.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as ProcessIdentity from "../../src/layers/ProcessIdentity/Procfs.ts"
import * as StateDir from "../../src/layers/StateDir/File.ts"
import { OwnedLock } from "../../src/services/OwnedLock.ts"
import { eventually } from "../support/Eventually.ts"
import type { HostVersion } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import * as TeamScript from "../support/TeamScript.ts"

const coordinatorId = "coordinator-session"
const workerId = "worker-session"

const words = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s+"))

const decodeLedger = Schema.decodeUnknown(Schema.parseJson(Ledger))

const stateOf = (harness: PiHarness.PiHarness) => path.join(harness.home, ".local/state/pi-intercom")

/** Has the worker's session from this process, as a Pi whose listener died would. */
const takeSession = (harness: PiHarness.PiHarness) =>
  Effect.flatMap(OwnedLock, (locks) => locks.session(harness.project, SessionId.make(workerId))).pipe(
    Effect.provide(
      LockFile.layer.pipe(
        Layer.provide(Layer.merge(StateDir.layer, ProcessIdentity.layer)),
        Layer.provide(Platform.layer),
        Layer.provide(
          Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", stateOf(harness)]])))
        )
      )
    )
  )

/** The open resumes that are recorded on disk. */
const attemptsOf = (harness: PiHarness.PiHarness) =>
  Effect.gen(function*() {
    const state = stateOf(harness)
    const folder = fs.readdirSync(state)[0] ?? ""
    const ledger = yield* decodeLedger(fs.readFileSync(path.join(state, folder, "processes.json"), "utf8"))
    return Object.values(ledger.attempts)
  })

/** A published coordinator and, in `api` below it, the worker Ada, who was given work once. */
const worked = (version: HostVersion) =>
  Effect.gen(function*() {
    const harness = yield* PiHarness.make(version, TeamScript.make(() => "Ada").script)
    const coordinator = yield* harness.start({ sessionId: coordinatorId })
    yield* coordinator.type("/intercom start")
    yield* coordinator.shows("this session now coordinates the team")
    const directory = path.join(harness.project, "api")
    fs.mkdirSync(directory)
    const worker = yield* harness.start({ sessionId: workerId, directory })
    yield* worker.shows("• Ada")
    yield* coordinator.shows("ECHO {")
    yield* coordinator.type("tell Ada: first work")
    yield* worker.shows("ECHO [Intercom message")
    return { harness, coordinator, worker, directory }
  })

/** Asks the coordinator's model to resume Ada, and answers what its tool said. `nth` counts these calls of a test. */
const resumed = (harness: PiHarness.PiHarness, coordinator: PiHarness.StartedPi, nth: number) =>
  Effect.gen(function*() {
    yield* coordinator.type("resume Ada")
    const answers = Effect.sync(() =>
      harness.model.requests().filter((one) =>
        one.session === coordinatorId && one.lastUser === "resume Ada" && one.lastRole === "tool"
      ).map((one) => one.messages.at(-1)?.text ?? "")
    )
    return yield* eventually(
      `the answer to resume ${nth}`,
      Effect.map(answers, (texts) => Option.fromNullable(texts[nth - 1])),
      coordinator.screen
    )
  })

const pidOf = (harness: PiHarness.PiHarness, pane: string) =>
  Effect.map(harness.tmux.panes, (rows) => rows.find((row) => row.pane === pane)?.pid ?? 0)

const paneIn = (text: string): string => /"pane": "(%\d+)"/.exec(text)?.[1] ?? text

/** Refused while the worker runs, or a process without an endpoint has its session; then it comes back as itself, idle. */
export const comesBack = (version: HostVersion) =>
  Effect.gen(function*() {
    const { coordinator, harness, worker } = yield* worked(version)
    assert.include(yield* resumed(harness, coordinator, 1), "Nothing was started: Ada runs.")
    yield* worker.type("/quit")
    yield* worker.gone
    const held = yield* Effect.scoped(Effect.zipRight(takeSession(harness), resumed(harness, coordinator, 2)))
    assert.include(held, `Ada's saved session is in use by process ${process.pid} `)

    const before = harness.model.requests().filter((one) => one.session === workerId).length
    const submitted = yield* resumed(harness, coordinator, 3)
    const back = harness.pane(paneIn(submitted))
    yield* back.shows("• Ada")
    const status = yield* harness.model.request(
      "its status at the coordinator",
      (one) => one.session === coordinatorId && one.lastUser.startsWith(`[Intercom status from Ada (${workerId})]`)
    )
    assert.include(status.lastUser, "busy: no")
    assert.deepStrictEqual(yield* attemptsOf(harness), [])
    yield* eventually(
      "the tab's title",
      Effect.map(
        harness.tmux.panes,
        (rows) => Option.fromNullable(rows.find((row) => row.pane === back.pane && row.window === "Ada"))
      )
    )
    assert.strictEqual(harness.model.requests().filter((one) => one.session === workerId).length, before)

    yield* coordinator.type("tell Ada: second work")
    const work = yield* harness.model.request(
      "its work after the resume",
      (one) => one.session === workerId && one.lastUser.endsWith("second work")
    )
    assert.isTrue(work.messages.some((message) => message.text.endsWith("first work")))
    assert.include(work.system, `You are Ada (session ${workerId})`)
  })

/** An open resume waits at Pi's trust question, outlives its coordinator's kill -9, and ends with its pane or its status. */
export const staysOpen = (version: HostVersion) =>
  Effect.gen(function*() {
    const { coordinator, directory, harness, worker } = yield* worked(version)
    yield* worker.type("/quit")
    yield* worker.gone
    fs.mkdirSync(path.join(directory, ".pi"))
    fs.writeFileSync(path.join(directory, ".pi/settings.json"), "{}")
    fs.writeFileSync(path.join(harness.agentDir, "trust.json"), "{}")
    const first = harness.pane(paneIn(yield* resumed(harness, coordinator, 1)))
    yield* first.shows(/[Tt]rust/)

    process.kill(yield* pidOf(harness, coordinator.pane), "SIGKILL")
    yield* coordinator.gone
    const again = yield* harness.start({ sessionId: coordinatorId, saved: true, args: ["--approve"] })
    yield* again.type("/intercom")
    yield* again.shows(words("Needs attention: the resume of Ada is open."))
    assert.include(yield* resumed(harness, again, 2), `in tmux pane ${first.pane}. Its Pi may be`)

    yield* first.close
    yield* first.gone
    const second = harness.pane(paneIn(yield* resumed(harness, again, 3)))
    assert.notStrictEqual(second.pane, first.pane)
    yield* second.shows(/[Tt]rust/)
    assert.lengthOf(yield* attemptsOf(harness), 1)
    yield* second.keys("Enter")
    yield* second.shows("• Ada")
    yield* harness.model.request(
      "its status at the coordinator",
      (one) => one.session === coordinatorId && one.lastUser.startsWith(`[Intercom status from Ada (${workerId})]`)
    )
    assert.deepStrictEqual(yield* attemptsOf(harness), [])
  })
