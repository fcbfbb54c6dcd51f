import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Lifetime from "../../../src/layers/SessionScope/Lifetime.ts"

describe("the lifetime of a session (spec 3.1)", () => {
  it.effect("waits at most 1 s; every fiber is interrupted at once, and what is slow still ends", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const note = (what: string) => Effect.sync(() => void log.push(what))
      const lifetime = yield* Lifetime.open
      const slowEnd = yield* Deferred.make<void>()
      yield* Scope.extend(
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => note("finalizer"))
          yield* FiberSet.run(yield* FiberSet.make(), Effect.onInterrupt(Effect.never, () => note("tool interrupted")))
          yield* Effect.addFinalizer(() => Effect.zipRight(Deferred.await(slowEnd), note("slow released")))
        }),
        lifetime.work
      )
      yield* Scope.addFinalizer(lifetime.last, note("lock released"))
      yield* Effect.yieldNow()
      const closing = yield* Effect.fork(Lifetime.close(lifetime))
      yield* TestClock.adjust("500 millis")
      assert.sameMembers(log, ["finalizer", "tool interrupted"])
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(closing)
      yield* Deferred.succeed(slowEnd, undefined)
      yield* TestClock.adjust("1 millis")
      assert.sameMembers(log, ["finalizer", "tool interrupted", "slow released", "lock released"])
      assert.strictEqual(log.at(-1), "lock released", "nothing can write any more")
    }))
})
