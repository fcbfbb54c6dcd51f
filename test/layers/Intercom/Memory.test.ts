import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { decide, type Decision } from "../../../src/layers/IntercomServer/Decide.ts"
import { limits } from "../../../src/layers/IntercomServer/Limits.ts"
import { IntercomClient } from "../../../src/services/IntercomClient.ts"
import { IntercomServer } from "../../../src/services/IntercomServer.ts"
import * as NetworkMemory from "../../support/NetworkMemory.ts"
import { keeping, message, recipient, root } from "../../support/Receivers.ts"
import * as SecretsMemory from "../../support/SecretsMemory.ts"
import { contract } from "./Contract.ts"

contract("memory", NetworkMemory.make().ends.pipe(Layer.provide(SecretsMemory.layer)))

describe("the network in memory", () => {
  const meet = (network: NetworkMemory.Network) =>
    Effect.gen(function*() {
      const { received, receiver } = keeping()
      const server = yield* IntercomServer
      const client = yield* IntercomClient
      const to = { sessionId: recipient, port: yield* server.listen(Option.none(), receiver) }
      return { to, client, count: () => received.length, send: Effect.exit(client.send(root, to, message("x"))) }
    }).pipe(Effect.provide(network.ends.pipe(Layer.provide(SecretsMemory.layer))))
  const tagOf = (exit: Exit.Exit<void, { readonly _tag: string }>): string =>
    Exit.match(exit, {
      onSuccess: () => "Accepted",
      onFailure: (cause) => cause._tag === "Fail" ? cause.error._tag : "?"
    })

  const faults: ReadonlyArray<readonly [NetworkMemory.Fault, string, number]> = [
    [{ _tag: "Drop" }, "OutcomeUnknown", 0],
    [{ _tag: "LoseAnswer" }, "OutcomeUnknown", 1],
    [{ _tag: "Duplicate" }, "Accepted", 2],
    [{ _tag: "Refuse" }, "Undelivered", 0]
  ]
  for (const [fault, outcome, effects] of faults) {
    it.scoped(`${fault._tag}: ${outcome}, ${effects} effects`, () =>
      Effect.gen(function*() {
        const network = NetworkMemory.make()
        const { count, send } = yield* meet(network)
        network.script(() => fault)
        assert.strictEqual(tagOf(yield* send), outcome)
        assert.strictEqual(count(), effects)
        assert.strictEqual(network.sent.length, 1)
      }))
  }

  it.scoped("Delay: it arrives after its sender has given up", () =>
    Effect.gen(function*() {
      const network = NetworkMemory.make()
      const { count, send } = yield* meet(network)
      network.script(() => ({ _tag: "Delay", ms: 6000 }))
      const sending = yield* Effect.fork(send)
      yield* TestClock.adjust(5000)
      assert.strictEqual(tagOf(yield* Fiber.join(sending)), "OutcomeUnknown")
      assert.strictEqual(count(), 0)
      yield* TestClock.adjust(1000)
      assert.strictEqual(count(), 1)
    }))

  it.scoped("a squatted port proves nothing", () =>
    Effect.gen(function*() {
      const network = NetworkMemory.make()
      const { client, count, send, to } = yield* meet(network)
      network.squat(to.port)
      assert.strictEqual(tagOf(yield* send), "Undelivered")
      assert.strictEqual(count(), 0)
      assert.deepStrictEqual(yield* client.probe(root, to), { state: "unknown", reason: "malformed" })
    }))
})

describe("decide in time", () => {
  const told = (receive: Parameters<typeof decide>[0], afterMs: number): Effect.Effect<Option.Option<Decision>> =>
    Effect.gen(function*() {
      const deciding = yield* Effect.fork(decide(receive, limits))
      yield* TestClock.adjust(afterMs)
      return Option.flatMap(yield* Fiber.poll(deciding), Exit.match({ onSuccess: Option.some, onFailure: Option.none }))
    })
  const is503 = (decision: Option.Option<Decision>): boolean =>
    Option.isSome(decision) && decision.value._tag === "Refused" && decision.value.refusal.status === 503

  it.effect("what has not committed within 4 s never does, and 503 says so", () =>
    Effect.gen(function*() {
      let effects = 0
      const slow = decide(
        (commit) => Effect.sleep(4000).pipe(Effect.zipRight(commit(Effect.sync(() => effects++)))),
        limits
      )
      const deciding = yield* Effect.fork(slow)
      yield* TestClock.adjust(3999)
      assert.isTrue(Option.isNone(yield* Fiber.poll(deciding)))
      yield* TestClock.adjust(1)
      assert.isTrue(is503(Option.some(yield* Fiber.join(deciding))))
      yield* TestClock.adjust(10_000)
      assert.strictEqual(effects, 0)
    }))

  it.effect("a commit that another fiber begins too late fails instead of happening", () =>
    Effect.gen(function*() {
      let effects = 0
      const late = yield* Deferred.make<string>()
      const decision = yield* told(
        (commit) =>
          Effect.forkDaemon(
            Effect.sleep(5000).pipe(
              Effect.zipRight(commit(Effect.sync(() => effects++))),
              Effect.match({ onFailure: () => "too late", onSuccess: () => "happened" }),
              Effect.intoDeferred(late)
            )
          ).pipe(Effect.zipRight(Effect.never)),
        4000
      )
      assert.isTrue(is503(decision))
      yield* TestClock.adjust(1000)
      assert.strictEqual(yield* Deferred.await(late), "too late")
      assert.strictEqual(effects, 0)
    }))

  it.effect("past the commit the truth is told, also after 4 s", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* told((commit) => commit(Effect.sleep(4500)), 4500),
        Option.some<Decision>({ _tag: "Accepted" })
      )
      const refusal = { status: 400, sentence: "no" } as const
      assert.deepStrictEqual(
        yield* told((commit) => commit(Effect.zipRight(Effect.sleep(4500), Effect.fail(refusal))), 4500),
        Option.some<Decision>({ _tag: "Refused", refusal })
      )
    }))

  it.effect("past the commit the connection is cut rather than 503 told", () =>
    Effect.gen(function*() {
      const deciding = yield* Effect.fork(decide((commit) => commit(Effect.sleep(20_000)), limits))
      yield* TestClock.adjust(4999)
      assert.isTrue(Option.isNone(yield* Fiber.poll(deciding)))
      yield* TestClock.adjust(20_000)
      assert.deepStrictEqual(yield* Fiber.join(deciding), { _tag: "Cut" })
    }))
})
