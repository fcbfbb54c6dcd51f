import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as Fence from "../../../src/layers/SessionScope/Fence.ts"
import { SessionScope } from "../../../src/services/SessionScope.ts"
import { makeHost } from "../../support/HostSimulated.ts"

describe("the fence of a session (spec 3.1)", () => {
  it.effect("interrupts what was forked, also from a step that cannot be interrupted", () =>
    Effect.gen(function*() {
      const fence: Fence.Fence = { sessionId: SessionId.make("s-1"), open: true }
      const scope = yield* Scope.make()
      const layer = Fence.layer(fence, scope).pipe(Layer.provide(makeHost("s-1", "/work").layer))
      const session = Context.get(yield* Layer.buildWithScope(layer, scope), SessionScope)
      const runs = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<string>()
      const fiber = Deferred.succeed(runs, undefined).pipe(
        Effect.zipRight(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(ended, "interrupted"))
      )
      yield* Effect.uninterruptible(session.fork(fiber))
      yield* Deferred.await(runs)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Deferred.await(ended), "interrupted")
      assert.isFalse(session.isOpen())
    }))
})
