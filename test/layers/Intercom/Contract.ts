import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { type Endpoint, IntercomClient } from "../../../src/services/IntercomClient.ts"
import { IntercomServer, type Receiver, type Refusal } from "../../../src/services/IntercomServer.ts"
import { keeping, message, recipient, root } from "../../support/Receivers.ts"
import { keyOf } from "../../support/SecretsMemory.ts"

/** What any pair of IntercomServer and IntercomClient does, whatever is between them. */
export const contract = (name: string, ends: Layer.Layer<IntercomServer | IntercomClient>): void => {
  const listening = (receiver: Receiver) =>
    Effect.gen(function*() {
      const server = yield* IntercomServer
      return { sessionId: recipient, port: yield* server.listen(Option.none(), receiver) }
    })
  const send = (to: Endpoint, text = "hello") =>
    Effect.flatMap(IntercomClient, (client) => client.send(root, to, message(text)))

  describe(`IntercomServer and IntercomClient over ${name}`, () => {
    it.scopedLive("an envelope arrives as it was sent, signed", () =>
      Effect.gen(function*() {
        const { received, receiver } = keeping()
        yield* send(yield* listening(receiver), "héllo 漢字 \u0000")
        assert.deepStrictEqual(received, [{ envelope: message("héllo 漢字 \u0000"), signed: true }])
      }).pipe(Effect.provide(ends)))

    it.scopedLive("the saved port is taken when it is free, another one when it is not", () =>
      Effect.gen(function*() {
        const server = yield* IntercomServer
        const scope = yield* Scope.make()
        const first = yield* server.listen(Option.none(), keeping().receiver).pipe(Scope.extend(scope))
        const second = yield* server.listen(Option.some(first), keeping().receiver)
        assert.notStrictEqual(second, first)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* server.listen(Option.some(first), keeping().receiver), first)
      }).pipe(Effect.provide(ends)))

    it.scopedLive("a closed listener refuses, and interrupts what it was doing", () =>
      Effect.gen(function*() {
        const server = yield* IntercomServer
        const client = yield* IntercomClient
        const scope = yield* Scope.make()
        const [running, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const { receiver } = keeping({
          receive: () =>
            Deferred.succeed(running, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
        })
        const port = yield* server.listen(Option.none(), receiver).pipe(Scope.extend(scope))
        const to = { sessionId: recipient, port }
        const sending = yield* Effect.fork(Effect.flip(send(to)))
        yield* Deferred.await(running)
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.await(interrupted)
        assert.strictEqual((yield* Fiber.join(sending))._tag, "OutcomeUnknown")
        assert.deepInclude(yield* Effect.flip(send(to)), { _tag: "Undelivered", reason: "refused" })
        assert.deepStrictEqual(yield* client.probe(root, to), { state: "disconnected", reason: "refused" })
      }).pipe(Effect.provide(ends)))

    const refusals: ReadonlyArray<Refusal> = [
      { status: 400, sentence: "not from you", code: "worker_changed" },
      { status: 400, sentence: "not now" },
      { status: 503, sentence: "64 messages wait already" }
    ]
    for (const refusal of refusals) {
      it.scopedLive(`a refusal is passed on: ${refusal.sentence}`, () =>
        Effect.gen(function*() {
          const { receiver } = keeping({ receive: () => Effect.fail(refusal) })
          const error = yield* Effect.flip(send(yield* listening(receiver)))
          assert.deepInclude(error, { _tag: "Rejected", ...refusal })
          assert.strictEqual("code" in error, "code" in refusal)
        }).pipe(Effect.provide(ends)))
    }

    it.scopedLive("a receiver that dies before it commits had no effect, after it the outcome is unknown", () =>
      Effect.gen(function*() {
        const before = yield* listening(keeping({ receive: () => Effect.die("a bug") }).receiver)
        assert.deepInclude(yield* Effect.flip(send(before)), { _tag: "Rejected", status: 503 })
        const after = yield* listening(keeping({ receive: (_1, _2, commit) => commit(Effect.die("a bug")) }).receiver)
        assert.deepInclude(yield* Effect.flip(send(after)), { _tag: "OutcomeUnknown", reason: "connection" })
      }).pipe(Effect.provide(ends)))

    const strangers: ReadonlyArray<readonly [string, Partial<Receiver>]> = [
      ["has no team", { key: Effect.succeed(Option.none()) }],
      ["has another team's key", { key: Effect.succeed(Option.some(keyOf("/other"))) }]
    ]
    for (const [what, changes] of strangers) {
      it.scopedLive(`nothing is sent to a session that ${what}`, () =>
        Effect.gen(function*() {
          const { received, receiver } = keeping(changes)
          const to = yield* listening(receiver)
          assert.deepInclude(yield* Effect.flip(send(to)), { _tag: "Undelivered", reason: "unproven" })
          assert.deepStrictEqual(received, [])
          const client = yield* IntercomClient
          assert.deepStrictEqual(yield* client.probe(root, to), { state: "connected", reason: "unproven" })
        }).pipe(Effect.provide(ends)))
    }

    it.scopedLive("nothing is sent to another session that took over the port", () =>
      Effect.gen(function*() {
        const { received, receiver } = keeping({ sessionId: "another" })
        const to = yield* listening(receiver)
        assert.deepInclude(yield* Effect.flip(send(to)), { _tag: "Undelivered", reason: "unproven" })
        assert.deepStrictEqual(received, [])
        const client = yield* IntercomClient
        assert.deepStrictEqual(yield* client.probe(root, to), { state: "disconnected", reason: "identity_mismatch" })
      }).pipe(Effect.provide(ends)))

    it.scopedLive("a closed fence takes nothing", () =>
      Effect.gen(function*() {
        const { received, receiver } = keeping({ open: Effect.succeed(false) })
        const to = yield* listening(receiver)
        assert.deepInclude(yield* Effect.flip(send(to)), { _tag: "Rejected", status: 503 })
        assert.deepStrictEqual(received, [])
        const client = yield* IntercomClient
        assert.deepStrictEqual(yield* client.probe(root, to), { state: "unknown", reason: "http_error" })
      }).pipe(Effect.provide(ends)))

    it.scopedLive("a batch answers for each endpoint in the given order, at most 256", () =>
      Effect.gen(function*() {
        const client = yield* IntercomClient
        const to = yield* listening(keeping().receiver)
        const other = { ...to, sessionId: "another" }
        const probes = yield* client.probeAll(root, [to, other, to, ...Array.from({ length: 254 }, () => other)])
        assert.deepStrictEqual(
          [probes.length, probes[0]?.reason, probes[1]?.reason, probes[2]?.reason, probes[255]?.reason],
          [257, "verified", "identity_mismatch", "verified", "identity_mismatch"]
        )
        assert.deepStrictEqual(probes[256], { state: "unknown", reason: "not_checked" })
      }).pipe(Effect.provide(ends)))
  })
}
