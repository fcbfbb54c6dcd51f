import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { SessionReplaced } from "../../../src/domain/SessionErrors.ts"
import type { TeamConfig } from "../../../src/domain/TeamConfig.ts"
import { agentBySession, changeConfig } from "../../../src/domain/TeamConfig.ts"
import { type ConfigServices, coordinatorId, first, session, values } from "./Sessions.ts"

/** A root and what stands around it, in memory or on disk. */
export interface Place {
  readonly layer: Layer.Layer<ConfigServices>
  readonly root: string
  /** Writes the team file as an outside editor would. */
  readonly write: (text: string) => Effect.Effect<void>
  /** The team file's text; none without one. */
  readonly text: Effect.Effect<Option.Option<string>>
}

const fixture = readFileSync(new URL("../../fixtures/team-0.6.1.json", import.meta.url), "utf8")
const fixtureCoordinator = SessionId.make("0199f2d0-5a3c-7b1e-9d44-0d0b6f6f1a01")
const open = Effect.void
const allow = () => Either.right(undefined)
const rename = (name: string) => (config: TeamConfig) => Either.right<TeamConfig>({ ...config, "x-name": name })

/**
 * What every ConfigReader and ConfigStore does. `place` has a root without a team file, with the folders `api`,
 * `api/inner`, a link `inside` to `api`, a link `outside` to a folder beside the root, and a file `file`.
 */
export const contract = (name: string, place: Effect.Effect<Place, never, Scope.Scope>) => {
  describe(`team files: ${name}`, () => {
    it.scopedLive("finds nothing, then what was published, from below", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const { reader, store } = yield* session(layer)
        assert.deepStrictEqual(yield* reader.discover(`${root}/api/inner`), Option.none())
        assert.deepStrictEqual(yield* reader.read(root), Option.none())
        assert.deepStrictEqual(yield* store.publish(root, first(), open), { _tag: "Published", config: first() })
        assert.deepStrictEqual(yield* reader.discover(`${root}/api/inner`), Option.some(root))
        assert.deepStrictEqual(yield* reader.read(root), Option.some(first()))
      }))

    it.scopedLive("twelve sessions that publish at once give one coordinator and eleven that know it", () =>
      Effect.gen(function*() {
        const { layer, root, text } = yield* place
        const sessions = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => SessionId.make(`session-${index}`)),
          (id) => Effect.map(session(layer), (services) => ({ id, ...services }))
        )
        const ends = yield* Effect.forEach(
          sessions,
          ({ id, store }) => Effect.map(store.publish(root, first(id), open), (end) => ({ id, end })),
          { concurrency: "unbounded" }
        )
        const winners = ends.filter(({ end }) => end._tag === "Published")
        assert.lengthOf(winners, 1)
        for (const { end } of ends) assert.strictEqual(end.config.agents[0]?.sessionId, winners[0]?.id)
        assert.include(Option.getOrThrow(yield* text), String(winners[0]?.id))
      }))

    it.scopedLive("a session that was replaced publishes nothing, whenever its fence closed", () =>
      Effect.gen(function*() {
        const { layer, root, text } = yield* place
        const { store } = yield* session(layer)
        for (const passes of [0, 1]) {
          let looked = 0
          const fence = Effect.suspend(() => {
            looked += 1
            return looked > passes ? new SessionReplaced() : Effect.void
          })
          assert.instanceOf(yield* Effect.flip(store.publish(root, first(), fence)), SessionReplaced)
          assert.strictEqual(looked, passes + 1)
          assert.deepStrictEqual(yield* text, Option.none())
        }
      }))

    it.scopedLive("publishing over an invalid file fails and leaves it", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        const { store } = yield* session(layer)
        yield* write("{")
        const failed = yield* Effect.flip(store.publish(root, first(), open))
        assert.include(failed.message, "it is not valid JSON")
        assert.deepStrictEqual(yield* text, Option.some("{"))
      }))

    it.scopedLive("updates for the coordinator and keeps every unknown key of a file of 0.6.1", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        yield* write(fixture)
        const { reader, store } = yield* session(layer)
        const written = yield* store.update(
          root,
          fixtureCoordinator,
          open,
          (config) => changeConfig(config, { multiplexer: "none" })
        )
        assert.strictEqual(written.multiplexer, "none")
        assert.deepStrictEqual(JSON.parse(Option.getOrThrow(yield* text)), {
          ...JSON.parse(fixture),
          multiplexer: "none"
        })
        assert.deepStrictEqual(yield* reader.read(root), Option.some(written))
      }))

    it.scopedLive("keeps an unknown key that the change dropped at the top", () =>
      Effect.gen(function*() {
        const { layer, root, write } = yield* place
        yield* write(fixture)
        const { store } = yield* session(layer)
        const written = yield* store.update(root, fixtureCoordinator, open, ({ agents }) =>
          Either.right({ version: 1, multiplexer: "tmux", agents }))
        assert.deepStrictEqual(written["dashboard"], JSON.parse(fixture).dashboard)
        assert.strictEqual(written.multiplexer, "tmux")
      }))

    it.scopedLive("writes nothing for an unchanged reference, a refusal or a change that breaks a rule", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        yield* write(fixture)
        const { store } = yield* session(layer)
        yield* store.update(root, fixtureCoordinator, open, Either.right)
        const refused = yield* Effect.flip(store.update(root, fixtureCoordinator, open, () => Either.left("no")))
        assert.strictEqual(refused, "no")
        const broken = yield* Effect.flip(
          store.update(root, fixtureCoordinator, open, (config) => Either.right({ ...config, agents: [] }))
        )
        assert.deepInclude(broken, { _tag: "ConfigNotWritten", reason: "invalid" })
        assert.include(broken.message, "exactly one agent is the coordinator")
        assert.deepStrictEqual(yield* text, Option.some(fixture))
      }))

    it.scopedLive("refuses to update without a file, and for anyone but the coordinator", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        const { store } = yield* session(layer)
        const absent = yield* Effect.flip(store.update(root, coordinatorId, open, rename("a")))
        assert.deepInclude(absent, { _tag: "ConfigNotWritten", reason: "absent" })
        yield* write(fixture)
        const stranger = yield* Effect.flip(store.update(root, coordinatorId, open, rename("a")))
        assert.deepInclude(stranger, { _tag: "ConfigNotWritten", reason: "not_coordinator" })
        assert.deepStrictEqual(yield* text, Option.some(fixture))
      }))

    it.scopedLive("a fence that closes at any of its looks leaves the file as it was", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        yield* write(fixture)
        const { store } = yield* session(layer)
        let passes = 0
        for (;;) {
          let looks = 0
          const fence = Effect.suspend(() => {
            looks += 1
            return looks > passes ? new SessionReplaced() : Effect.void
          })
          const end = yield* Effect.either(store.update(root, fixtureCoordinator, fence, rename("b")))
          if (Either.isRight(end)) break
          assert.strictEqual(end.left._tag, "SessionReplaced")
          assert.deepStrictEqual(yield* text, Option.some(fixture))
          passes += 1
        }
        assert.isAtLeast(passes, 4)
        assert.include(Option.getOrThrow(yield* text), "x-name")
      }))

    it.scopedLive("concurrent updates are all there at the end", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const { reader, store } = yield* session(layer)
        yield* store.publish(root, first(), open)
        const written = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => `w${index}`),
          (id) => store.configure(root, coordinatorId, open, values(id), allow),
          { concurrency: "unbounded" }
        )
        const config = Option.getOrThrow(yield* reader.read(root))
        assert.lengthOf(config.agents, 21)
        assert.lengthOf(written.filter((one) => one.first), 1)
      }))

    it.scopedLive("configure appends, then replaces and keeps handoff, closeJob and unknown keys", () =>
      Effect.gen(function*() {
        const { layer, root, write } = yield* place
        yield* write(fixture)
        const { reader, store } = yield* session(layer)
        const added = yield* store.configure(root, fixtureCoordinator, open, values("new"), allow)
        assert.isFalse(added.first)
        assert.strictEqual(added.agent.projectDirectory, ".")
        const id = "0199f2d0-6b11-7c0a-8f02-7a3d9c0e2b02"
        const replaced: Array<string | undefined> = []
        const again = yield* store.configure(
          root,
          fixtureCoordinator,
          open,
          values(id, { name: "Backend", projectDirectory: "api/inner" }),
          (agent) => {
            replaced.push(agent?.name)
            return Either.right(undefined)
          }
        )
        assert.isFalse(again.first)
        assert.deepStrictEqual(replaced, ["API 担当"])
        const before = JSON.parse(fixture).agents[1]
        assert.deepStrictEqual(again.agent, {
          ...before,
          ...values(id, { name: "Backend", projectDirectory: "api/inner" })
        })
        const config = Option.getOrThrow(yield* reader.read(root))
        assert.deepStrictEqual(config.agents.map((agent) => agent.name), [
          "Coordinator",
          "Backend",
          "Docs",
          "Worker new"
        ])
        assert.deepStrictEqual(agentBySession(config, id), again.agent)
      }))

    it.scopedLive("configure refuses the coordinator's own id, broken rules, and what `allow` refuses", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        yield* write(fixture)
        const { store } = yield* session(layer)
        const refusal = (given: ReturnType<typeof values>) =>
          Effect.flip(store.configure(root, fixtureCoordinator, open, given, allow))
        assert.deepInclude(yield* refusal(values(fixtureCoordinator)), { _tag: "ConfigRefused" })
        const doubled = yield* refusal(values("new", { name: "DOCS" }))
        assert.include(doubled.message, "two agents have this name")
        const port = yield* refusal(values("new", { port: 70_000 }))
        assert.include(port.message, "port: must be a number between 1 and 65535")
        const fenced = yield* Effect.flip(
          store.configure(root, fixtureCoordinator, open, values("new"), () => Either.left("fenced"))
        )
        assert.strictEqual(fenced, "fenced")
        assert.deepStrictEqual(yield* text, Option.some(fixture))
      }))

    it.scopedLive("configure resolves the directory for real", () =>
      Effect.gen(function*() {
        const { layer, root, text, write } = yield* place
        yield* write(fixture)
        const { store } = yield* session(layer)
        const configure = (projectDirectory: string) =>
          store.configure(root, fixtureCoordinator, open, values("new", { projectDirectory }), allow)
        for (const directory of ["outside", "..", `${root}/..`, "/", "api/../../beside", "missing", "file", "a\0b"]) {
          const refused = yield* Effect.flip(configure(directory))
          assert.strictEqual(refused._tag, "ConfigRefused", directory)
          assert.include(refused.message, "the project directory", directory)
        }
        assert.deepStrictEqual(yield* text, Option.some(fixture))
        const stored = yield* Effect.forEach(
          [".", "", "api/inner/..", `${root}/api/inner`, "inside", root],
          (directory) => Effect.map(configure(directory), ({ agent }) => agent.projectDirectory)
        )
        assert.deepStrictEqual(stored, [".", ".", "api", "api/inner", "api", "."])
      }))
  })
}
