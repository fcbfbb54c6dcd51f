import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import { decodeConfig } from "../../src/domain/TeamConfig.ts"
import { eventually } from "../support/Eventually.ts"
import type { HostVersion } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import type { ModelRequest } from "../support/ScriptedModel.ts"
import * as TeamScript from "../support/TeamScript.ts"

const coordinatorId = "coordinator-session"
const workerId = "worker-session"
const slowNeighbour = path.resolve(import.meta.dirname, "../support/SlowNeighbour.ts")

const configOf = (root: string) =>
  Effect.suspend(() => decodeConfig(fs.readFileSync(path.join(root, ".pi-intercom/config.json"), "utf8")))

/** A published coordinator and a model that names every session that registers `Ada`, `Ben`, … in order. */
export const team = (version: HostVersion, surroundings: PiHarness.Surroundings) =>
  Effect.gen(function*() {
    const names = new Map<string, string>()
    const script = TeamScript.make((sessionId) => {
      const name = names.get(sessionId) ?? ["Ada", "Ben", "Cleo"][names.size] ?? "Nobody"
      names.set(sessionId, name)
      return name
    })
    const harness = yield* PiHarness.make(version, script.script, surroundings)
    const coordinator = yield* harness.start({ sessionId: coordinatorId })
    yield* coordinator.type("/intercom start")
    yield* coordinator.shows("this session now coordinates the team")
    return { harness, coordinator, hold: script.hold, model: harness.model }
  })

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

/** The team talks, whatever its Pis run in. */
export const talking = (version: HostVersion, surroundings: PiHarness.Surroundings): void => {
  it.scopedLive(
    "two sessions that start a team at once are one coordinator and one anonymous worker that says so",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make(version, TeamScript.make(() => "Ada").script, surroundings)
        const [one, two] = yield* Effect.all([harness.start(), harness.start()], { concurrency: 2 })
        yield* Effect.all([one.type("/intercom start"), two.type("/intercom start")], { concurrency: 2 })
        const screens = Effect.zip(one.screen, two.screen)
        const coordinates = (text: string) => text.includes("this session now coordinates the team")
        const first = yield* eventually(
          "one coordinator",
          Effect.map(
            screens,
            ([left, right]) =>
              coordinates(left) ? Option.some(one) : coordinates(right) ? Option.some(two) : Option.none()
          ),
          Effect.map(screens, (both) => both.join("\n"))
        )
        const second = first === one ? two : one
        yield* second.shows(/anonymous/)
        assert.isFalse(coordinates(yield* second.screen))
        const config = yield* configOf(harness.project)
        assert.deepStrictEqual(config.agents.map((agent) => agent.sessionId).slice(0, 1), [first.sessionId])
        yield* harness.model.request(
          "the registration of the loser at the winner",
          (one) => one.session === first.sessionId && one.lastUser.includes(`(${second.sessionId})]`)
        )
      }),
    bound
  )

  it.scopedLive(
    "a worker that registers is named and loaded, gets messages while busy, and through a compaction",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness, hold, model } = yield* team(version, surroundings)
        const worker = yield* harness.start({ sessionId: workerId })
        yield* worker.shows("• Ada")
        const config = yield* configOf(harness.project)
        assert.deepStrictEqual(config.agents.map(({ name, sessionId }) => [name, sessionId]), [
          ["Coordinator", coordinatorId],
          ["Ada", workerId]
        ])

        const busy = yield* Deferred.make<void>()
        hold("think long", Deferred.await(busy))
        yield* worker.type("think long")
        yield* model.request("the worker is busy", (one) => one.lastUser === "think long")
        const header = `[Intercom message from Coordinator (${coordinatorId})]`
        yield* coordinator.type("tell Ada: while busy")
        yield* coordinator.shows("\"accepted\": true")
        assert.isFalse(model.requests().some((one) => one.session === workerId && one.lastUser.includes("while busy")))
        yield* Deferred.succeed(busy, undefined)
        const steered = yield* model.request(
          "the message that steers",
          (one) => one.session === workerId && one.lastUser === `${header}\nwhile busy`
        )
        assert.strictEqual(steered.messages.filter((message) => message.role === "user").length, 2)
        yield* worker.shows("ECHO [Intercom message")

        const summarized = yield* Deferred.make<void>()
        hold("think long", Deferred.await(summarized))
        yield* worker.type("/compact")
        yield* model.request("the compaction", (one) => one.summary)
        yield* coordinator.type("tell Ada: while compacting")
        yield* model.request(
          "the message is accepted",
          (one) =>
            one.session === coordinatorId && one.lastUser === "tell Ada: while compacting" && one.lastRole === "tool"
        )
        yield* coordinator.shows("ECHO {")
        assert.isFalse(model.requests().some((one) => one.lastUser === `${header}\nwhile compacting`))
        yield* Deferred.succeed(summarized, undefined)
        yield* model.request(
          "the message that was held",
          (one) => one.session === workerId && one.lastUser === `${header}\nwhile compacting`
        )
        assert.notInclude(yield* worker.screen, "error:")
      }),
    bound
  )

  it.scopedLive(
    "messages that reach an idle worker at the same moment all arrive, beside a slow extension",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness, model } = yield* team(version, surroundings)
        const worker = yield* harness.start({ sessionId: workerId, extensions: [harness.entry, slowNeighbour] })
        yield* worker.shows("• Ada")
        yield* coordinator.type("tell Ada: one | two | three")
        const texts = (request: ModelRequest) =>
          request.messages.flatMap(({ role, text }) => role === "user" ? [text.split("\n")[1] ?? ""] : []).sort()
        yield* model.request(
          "all three in one conversation",
          (one) => one.session === workerId && texts(one).join() === "one,three,two"
        )
        assert.notInclude(yield* worker.screen, "already processing")
      }),
    bound
  )

  it.scopedLive("/reload and /new keep a working listener", () =>
    Effect.gen(function*() {
      const { coordinator, harness, model } = yield* team(version, surroundings)
      yield* coordinator.type("/reload")
      yield* coordinator.shows("Reloaded")
      const worker = yield* harness.start({ sessionId: workerId })
      yield* model.request(
        "a registration at the reloaded coordinator",
        (one) =>
          one.session === coordinatorId && one.lastUser.includes(`registration from unconfigured session (${workerId})`)
      )
      yield* worker.shows("• Ada")
      yield* worker.type("/reload")
      yield* model.request(
        "the status of the reloaded worker",
        (one) => one.session === coordinatorId && one.lastUser.includes("[Intercom status from Ada")
      )
      yield* coordinator.type("tell Ada: after reload")
      yield* model.request(
        "a message at the reloaded worker",
        (one) => one.session === workerId && one.lastUser.endsWith("after reload")
      )
      yield* worker.type("/new")
      const registered = /registration from unconfigured session \((?!worker-session\))([^)]+)\)/
      const again = yield* model.request(
        "the registration of the new session",
        (one) => one.session === coordinatorId && registered.test(one.lastUser)
      )
      const renewed = registered.exec(again.lastUser)?.[1]
      yield* worker.shows("• Ben")
      yield* coordinator.type("tell Ben: after new")
      yield* model.request(
        "a message at the new session",
        (one) => one.session === renewed && one.lastUser.endsWith("after new")
      )
    }), bound)
}

/** The coordinator opens a tab. */
export const launching = (version: HostVersion, surroundings: PiHarness.Surroundings): void => {
  it.scopedLive(
    "a worker that the coordinator creates is a tab of its own and registers",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness, model } = yield* team(version, surroundings)
        yield* coordinator.type("create worker")
        const request = yield* model.request(
          "the registration of the created worker",
          (one) => one.session === coordinatorId && one.lastUser.startsWith("[Intercom registration")
        )
        assert.notInclude(request.lastUser, coordinatorId)
        yield* eventually(
          "a tab with the worker's name",
          Effect.map(harness.tmux.panes, (rows) => Option.fromNullable(rows.find((row) => row.window === "Ada")))
        )
      }),
    bound
  )
}
