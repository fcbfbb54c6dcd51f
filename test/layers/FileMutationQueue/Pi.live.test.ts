import { withFileMutationQueue } from "@earendil-works/pi-coding-agent"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as PiQueue from "../../../src/layers/FileMutationQueue/Pi.ts"
import { FileMutationQueue } from "../../../src/services/FileMutationQueue.ts"

const live = PiQueue.layer(withFileMutationQueue)
const file = "/nonexistent/pi-intercom-queue-test"

describe("FileMutationQueue over Pi", () => {
  it.live("runs on the caller's fiber, one at a time with the host's own edits of that file", () =>
    Effect.gen(function*() {
      const queue = yield* FileMutationQueue
      const marked = FiberRef.unsafeMake("outside")
      const order: Array<string> = []
      const mayEnd = yield* Deferred.make<void>()
      const hostRuns = yield* Deferred.make<void>()
      const host = yield* Effect.fork(Effect.promise(() =>
        withFileMutationQueue(file, () => {
          Deferred.unsafeDone(hostRuns, Effect.void)
          return Effect.runPromise(Effect.tap(Deferred.await(mayEnd), () => order.push("host")))
        })
      ))
      yield* Deferred.await(hostRuns)
      const ours = yield* Effect.fork(Effect.locally(
        queue.run(file, Effect.tap(FiberRef.get(marked), (mark) => order.push(mark))),
        marked,
        "inside"
      ))
      yield* queue.run(`${file}-another`, Effect.sync(() => order.push("another file")))
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(host)
      yield* Fiber.join(ours)
      assert.deepStrictEqual(order, ["another file", "host", "inside"])
    }).pipe(Effect.provide(live)))

  it.live("an interrupted wait ends at once, its effect never runs, and the queue goes on", () =>
    Effect.gen(function*() {
      const queue = yield* FileMutationQueue
      const [inside, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let ran = false
      const first = yield* Effect.fork(
        queue.run(file, Effect.zipRight(Deferred.succeed(inside, undefined), Deferred.await(mayEnd)))
      )
      yield* Deferred.await(inside)
      const waiting = yield* Effect.fork(queue.run(
        file,
        Effect.sync(() => {
          ran = true
        })
      ))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(first)
      assert.strictEqual(yield* queue.run(file, Effect.succeed(3)), 3)
      assert.isFalse(ran)
    }).pipe(Effect.provide(live)))

  it.live("an effect that fails or is interrupted frees the queue", () =>
    Effect.gen(function*() {
      const queue = yield* FileMutationQueue
      const inside = yield* Deferred.make<void>()
      assert.deepStrictEqual(yield* Effect.exit(queue.run(file, Effect.fail("no"))), Exit.fail("no"))
      const endless = yield* Effect.fork(
        queue.run(file, Effect.zipRight(Deferred.succeed(inside, undefined), Effect.never))
      )
      yield* Deferred.await(inside)
      yield* Fiber.interrupt(endless)
      assert.strictEqual(yield* queue.run(file, Effect.succeed("free")), "free")
    }).pipe(Effect.provide(live)))

  it.live("a queue that fails leaves the word to the effect", () =>
    Effect.gen(function*() {
      const queue = yield* FileMutationQueue
      assert.strictEqual(yield* queue.run(file, Effect.succeed("ran")), "ran")
    }).pipe(Effect.provide(PiQueue.layer(() => Promise.reject(new Error("EACCES"))))))
})
