import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import { type Command, CommandRunner } from "../../../src/services/CommandRunner.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"

type Program = Pick<Command, "program" | "args">

/** What every runner does, whatever its programs are made of; `program` makes one that behaves as told. */
export const contract = (
  name: string,
  layer: Layer.Layer<CommandRunner>,
  program: (behaviour: Behaviour) => Program
) => {
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
  })
}
