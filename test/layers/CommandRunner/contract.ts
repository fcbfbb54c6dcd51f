import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import { type Command, CommandRunner } from "../../../src/services/CommandRunner.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"

type Program = Pick<Command, "program" | "args">

/** What a runner under test tells of itself. */
export interface Watch {
  /** Called by it at the very start of each program. */
  started: () => void
}

/** What every runner does, whatever its programs are made of; `program` makes one that behaves as told. */
export const contract = (
  name: string,
  layer: Layer.Layer<CommandRunner>,
  program: (behaviour: Behaviour) => Program,
  watch: Watch
) => {
  /** The starts from now on. */
  const counted = Effect.sync(() => {
    const starts = { count: 0 }
    watch.started = () => void (starts.count += 1)
    return starts
  })
  const after = <E>(first: Effect.Effect<void, E>, behaviour: Behaviour = {}, bounds: Partial<Command> = {}) =>
    Effect.flatMap(
      CommandRunner,
      (runner) => runner.run({ deadline: "30 seconds", maxOutputBytes: 1024, ...program(behaviour), ...bounds }, first)
    )
  const run = (behaviour: Behaviour, bounds: Partial<Command> = {}) =>
    Effect.flatMap(
      CommandRunner,
      (runner) => runner.run({ deadline: "30 seconds", maxOutputBytes: 1024, ...program(behaviour), ...bounds })
    )

  describe(`CommandRunner: ${name}`, () => {
    it.live("a program's code and both streams are its result", () =>
      Effect.gen(function*() {
        const ended = yield* run({ code: 3, stdout: "out é\n", stderr: "err\n" })
        assert.deepStrictEqual(ended, { code: 3, stdout: "out é\n", stderr: "err\n" })
      }).pipe(Effect.provide(layer)))

    it.live("output up to the bound is whole, one byte more is a failure", () =>
      Effect.gen(function*() {
        const full = yield* run({ stdout: "x".repeat(1024), stderr: "y".repeat(1024) })
        assert.strictEqual(full.stdout.length + full.stderr.length, 2048)
        assert.strictEqual((yield* Effect.flip(run({ stdout: "x".repeat(1025) }))).reason, "output")
        assert.strictEqual((yield* Effect.flip(run({ stderr: "x".repeat(1025) }))).reason, "output")
      }).pipe(Effect.provide(layer)))

    it.live("endless output does not wait for the deadline", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(run({ stdout: "x".repeat(9000), takes: "forever" }))
        assert.strictEqual(error.reason, "output")
      }).pipe(Effect.provide(layer)))

    it.live("a program that does not end by itself is ended at the deadline", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(run({ takes: "forever" }, { deadline: "50 millis" }))
        assert.strictEqual(error.reason, "deadline")
      }).pipe(Effect.provide(layer)))

    it.live("a program that is not there, that cannot start, that a signal ended", () =>
      Effect.gen(function*() {
        for (const fails of ["missing", "not_started", "signal"] as const) {
          assert.strictEqual((yield* Effect.flip(run({ fails }))).reason, fails)
        }
      }).pipe(Effect.provide(layer)))

    it.live("an interrupted run returns", () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(run({ takes: "forever" }))
        yield* Effect.yieldNow()
        const exit = yield* Fiber.interrupt(fiber)
        assert.isTrue(exit._tag === "Failure")
      }).pipe(Effect.provide(layer)))

    it.live("what is done first is one step with the start: no fiber, microtask or immediate comes between", () =>
      Effect.gen(function*() {
        const events: Array<string> = []
        const say = (event: string) => void events.push(event)
        const others = yield* Effect.fork(
          Effect.forever(Effect.zipRight(Effect.sync(() => say("other")), Effect.yieldNow()))
        )
        watch.started = () => say("start")
        yield* Effect.yieldNow()
        const first = Effect.sync(() => {
          say("first")
          queueMicrotask(() => say("microtask"))
          setImmediate(() => say("immediate"))
        }).pipe(
          // More operations than a fiber may do at a stretch.
          Effect.zipRight(Effect.forEach(Array(10_000), () => Effect.void, { discard: true })),
          Effect.zipRight(Effect.sync(() => say("looked")))
        )
        const ended = yield* after(first, { stdout: "out" })
        yield* Fiber.interrupt(others)
        assert.strictEqual(ended.stdout, "out")
        const at = events.indexOf("first")
        assert.deepStrictEqual(events.slice(at, at + 3), ["first", "looked", "start"])
        assert.include(events.slice(0, at), "other")
        assert.include(events.slice(at), "microtask")
      }).pipe(Effect.provide(layer)))

    it.live("when what is done first fails, or waits, nothing is started", () =>
      Effect.gen(function*() {
        const starts = yield* counted
        assert.strictEqual(yield* Effect.flip(after(Effect.fail("not now"))), "not now")
        for (const waits of [Effect.yieldNow(), Effect.promise(() => Promise.resolve()), Effect.sleep("1 millis")]) {
          const exit = yield* Effect.exit(after(waits))
          assert.isTrue(Exit.isFailure(exit) && exit.cause._tag === "Die", String(exit))
        }
        assert.strictEqual(starts.count, 0)
        yield* after(Effect.void)
        assert.strictEqual(starts.count, 1)
      }).pipe(Effect.provide(layer)))

    it.live("an interruption before the step starts nothing, not even one that an uninterruptible region put off", () =>
      Effect.gen(function*() {
        const starts = yield* counted
        let looked = false
        const first = Effect.sync(() => void (looked = true))
        yield* Fiber.interrupt(yield* Effect.fork(after(first)))
        const [entered, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const fiber = yield* Effect.fork(
          Effect.uninterruptibleMask((restore) =>
            Deferred.succeed(entered, undefined).pipe(
              Effect.zipRight(Deferred.await(go)),
              Effect.zipRight(after(restore(first)))
            )
          )
        )
        yield* Deferred.await(entered)
        yield* Fiber.interruptFork(fiber)
        yield* Effect.yieldNow()
        yield* Deferred.succeed(go, undefined)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
        assert.deepStrictEqual([looked, starts.count], [false, 0])
      }).pipe(Effect.provide(layer)))

    it.live("an interruption that comes while the fiber gives way, wherever it is then, starts nothing", () =>
      Effect.gen(function*() {
        let interrupted = false
        const late: Array<number> = []
        // With fewer a fiber does nothing but give way.
        for (let operations = 12; operations <= 60; operations += 1) {
          interrupted = false
          watch.started = () => void (interrupted && late.push(operations))
          const fiber = yield* Effect.fork(
            Effect.withMaxOpsBeforeYield(after(Effect.void, { fails: "missing" }), operations)
          )
          yield* Effect.yieldNow()
          interrupted = true
          yield* Fiber.interrupt(fiber)
        }
        assert.deepStrictEqual(late, [])
      }).pipe(Effect.provide(layer)))

    it.live("an uninterruptible run is not ended by an interruption, but by its deadline", () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        watch.started = () => Deferred.unsafeDone(started, Exit.void)
        let reason = ""
        const fiber = yield* after(Effect.void, { takes: "forever" }, { deadline: "300 millis" }).pipe(
          Effect.catchAll((error) => Effect.sync(() => void (reason = error.reason))),
          Effect.uninterruptible,
          Effect.fork
        )
        yield* Deferred.await(started)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(reason, "deadline")
      }).pipe(Effect.provide(layer)))
  })
}
