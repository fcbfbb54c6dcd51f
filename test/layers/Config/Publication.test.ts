import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { SessionReplaced } from "../../../src/domain/SessionErrors.ts"
import { bounded } from "../../../src/layers/ConfigStore/Publication.ts"
import { RenameFailed } from "../../../src/services/Platform.ts"

/** A rename that answers these codes one after the other, each after `takes`, then succeeds; says when it began. */
const renames = (codes: ReadonlyArray<string>, takes: Duration.DurationInput = 0) => {
  const began: Array<number> = []
  const attempt = Effect.gen(function*() {
    const code = codes[began.length]
    began.push(yield* Clock.currentTimeMillis)
    yield* Effect.sleep(takes)
    if (code !== undefined) return yield* new RenameFailed({ code })
  })
  return { began, attempt }
}

const eperm = (times: number) => Array.from({ length: times }, () => "EPERM")

const finish = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust(700)
    return yield* Fiber.await(fiber)
  })

describe("the bounded retry of a publication (spec 1.4)", () => {
  const rows: ReadonlyArray<
    readonly [string, ReadonlyArray<string>, number, ReadonlyArray<number>, string | undefined]
  > = [
    ["no error", [], 0, [0], undefined],
    ["one EPERM", eperm(1), 0, [0, 10], undefined],
    ["two", eperm(2), 0, [0, 10, 30], undefined],
    ["four", eperm(4), 0, [0, 10, 30, 70, 150], undefined],
    ["five: the delays are used up", eperm(5), 0, [0, 10, 30, 70, 150], "EPERM"],
    ["another error at once", ["EACCES"], 0, [0], "EACCES"],
    ["another error after EPERM: the first is reported", ["EPERM", "EIO"], 0, [0, 10], "EPERM"],
    ["attempts of 50 ms: the fourth delay would pass 250 ms", eperm(9), 50, [0, 60, 130, 220], "EPERM"],
    ["attempts of 45 ms: the fifth begins at 330, too late", eperm(9), 45, [0, 55, 120, 205], "EPERM"],
    ["an attempt that ends exactly so that the delay ends at 250", eperm(9), 80, [0, 90, 190], "EPERM"],
    ["an attempt of 240 ms: a delay of 10 just fits", eperm(9), 240, [0, 250], "EPERM"],
    ["an attempt of 241 ms: a delay of 10 would pass", eperm(9), 241, [0], "EPERM"]
  ]
  for (const [title, codes, takes, began, code] of rows) {
    it.effect(`Windows, ${title}`, () =>
      Effect.gen(function*() {
        const disk = renames(codes, takes)
        const exit = yield* finish(bounded("win32", disk.attempt))
        assert.deepStrictEqual(disk.began, [...began])
        assert.deepStrictEqual(
          exit,
          code === undefined ? Exit.succeed(undefined) : Exit.fail(new RenameFailed({ code }))
        )
      }))
  }

  for (const os of ["linux", "darwin", "other"] as const) {
    it.effect(`${os}: EPERM is an answer, not repeated`, () =>
      Effect.gen(function*() {
        const disk = renames(eperm(1))
        assert.deepStrictEqual(yield* finish(bounded(os, disk.attempt)), Exit.fail(new RenameFailed({ code: "EPERM" })))
        assert.deepStrictEqual(disk.began, [0])
      }))
  }

  it.effect("what is not the rename's error ends it: the fence closed between two attempts", () =>
    Effect.gen(function*() {
      const disk = renames(eperm(1))
      const attempt = Effect.suspend((): Effect.Effect<void, RenameFailed | SessionReplaced> =>
        disk.began.length === 0 ? disk.attempt : new SessionReplaced()
      )
      assert.deepStrictEqual(yield* finish(bounded("win32", attempt)), Exit.fail(new SessionReplaced()))
      assert.deepStrictEqual(disk.began, [0])
    }))

  it.effect("can be interrupted between two attempts, and not within one", () =>
    Effect.gen(function*() {
      const disk = renames(eperm(5), 5)
      const fiber = yield* Effect.fork(bounded("win32", Effect.uninterruptible(disk.attempt)))
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(disk.began, [0, 15])
      yield* TestClock.adjust(3)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(disk.began, [0, 15])
    }))
})
