import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type { CloseState } from "../../../src/domain/CloseTable.ts"
import { type Agent, changeConfig } from "../../../src/domain/TeamConfig.ts"
import { legacyProblem } from "../../support/LegacyValidator.ts"
import { configText } from "../../support/TeamArbitrary.ts"
import { disk } from "./Disk.ts"
import { memory } from "./MemoryPlace.ts"
import { coordinatorId, first, session, values } from "./Sessions.ts"

const time = "2025-11-02T10:15:30.123Z"
const state = FastCheck.constantFrom<CloseState>("requested", "closing", "uncertain", "closed")
const index = FastCheck.nat({ max: 5 })

/** One thing that a coordinator does to its file; `at` counts workers. */
const operation = FastCheck.oneof(
  FastCheck.record({
    do: FastCheck.constant("configure" as const),
    sessionId: FastCheck.constantFrom("w1", "w2", "w3", "漢字", "the-coordinator"),
    name: FastCheck.oneof(
      FastCheck.constantFrom("A", "a", "coordinator", " b", "c"),
      FastCheck.string({ maxLength: 8 })
    ),
    port: FastCheck.integer({ min: -1, max: 70_000 }),
    projectDirectory: FastCheck.constantFrom(".", "api", "api/inner", "inside", "outside", "missing", "..")
  }),
  FastCheck.record({ do: FastCheck.constant("remove" as const), at: index }),
  FastCheck.record({ do: FastCheck.constant("multiplexer" as const), to: FastCheck.constantFrom("herdr", "none") }),
  FastCheck.record({ do: FastCheck.constant("close" as const), at: index, state }),
  FastCheck.record({
    do: FastCheck.constant("handoff" as const),
    at: index,
    summary: FastCheck.string({ unit: "binary" })
  })
)
type Operation = typeof operation extends FastCheck.Arbitrary<infer A> ? A : never

const edit = (agents: ReadonlyArray<Agent>, at: number, change: (agent: Agent) => ReadonlyArray<Agent>) =>
  agents.flatMap((agent, position) => position === at + 1 ? change(agent) : [agent])

/** Few sequences on disk, where each write is synced; many in memory, whose validation is the same domain's. */
const places = [["memory", memory, 100, 100], ["files", disk, 8, 5]] as const

describe.each(places)("what we write, read by 0.6.1's rules: %s", (_, where, numRuns, atLeast) => {
  it.scopedLive("holds after any sequence of publish, configure and update, and keeps what others own", () =>
    Effect.gen(function*() {
      const place = yield* where
      const { store } = yield* session(place.layer)
      const run = Runtime.runPromise(yield* Effect.runtime())
      let written = 0

      const perform = (step: Operation): Effect.Effect<void, unknown> => {
        if (step.do === "configure") {
          const { do: _, ...given } = step
          const all = { ...values(given.sessionId), ...given }
          return Effect.asVoid(
            store.configure(place.root, coordinatorId, Effect.void, all, () => Either.right(undefined))
          )
        }
        return Effect.asVoid(store.update(place.root, coordinatorId, Effect.void, (config) => {
          switch (step.do) {
            case "multiplexer":
              return changeConfig(config, { multiplexer: step.to === "none" ? "none" : "herdr" })
            case "remove":
              return changeConfig(config, { agents: edit(config.agents, step.at, () => []) })
            case "close":
              return changeConfig(config, {
                agents: edit(config.agents, step.at, (agent) => [{
                  ...agent,
                  closeJob: { jobId: "j-1", state: step.state, createdAt: time, updatedAt: time, deadlineAt: time }
                }])
              })
            case "handoff":
              return changeConfig(config, {
                agents: edit(config.agents, step.at, (agent) => [{
                  ...agent,
                  handoff: { version: 1, jobId: "j-1", summary: step.summary, updatedAt: time }
                }])
              })
          }
        }))
      }

      const scenario = (start: Option.Option<string>, steps: ReadonlyArray<Operation>) =>
        Effect.gen(function*() {
          yield* place.remove
          if (Option.isSome(start)) yield* place.write(start.value)
          else yield* store.publish(place.root, first(), Effect.void)
          const before = JSON.parse(Option.getOrThrow(yield* place.text))
          for (const step of steps) {
            const end = yield* Effect.either(perform(step))
            if (Either.isRight(end)) written += 1
            const text = Option.getOrThrow(yield* place.text)
            assert.isUndefined(legacyProblem(text), JSON.stringify(step))
            assert.deepStrictEqual({ ...JSON.parse(text), agents: [], multiplexer: "" }, {
              ...before,
              agents: [],
              multiplexer: ""
            })
          }
        })

      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(
            FastCheck.oneof(FastCheck.constant(Option.none()), configText(["herdr", "none"]).map(Option.some)),
            FastCheck.array(operation, { maxLength: 12 }),
            (start, steps) => run(scenario(start, steps))
          ),
          { numRuns }
        )
      )
      assert.isAtLeast(written, atLeast)
    }))
})
