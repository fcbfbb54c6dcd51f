import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { LockNotTaken, StateUnusable } from "../../src/domain/ConfigErrors.ts"
import type { OwnedLock } from "../../src/services/OwnedLock.ts"

/** Holds `config.lock` until the scope closes, by a fiber of its own that does nothing else. */
export const holdConfig = (
  locks: OwnedLock["Type"],
  root: string
): Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope> =>
  Effect.gen(function*() {
    const taken = yield* Deferred.make<void, LockNotTaken | StateUnusable>()
    const use = Effect.zipRight(Deferred.succeed(taken, undefined), Effect.never)
    yield* Effect.forkScoped(Effect.catchAll(locks.config(root, use), (failed) => Deferred.fail(taken, failed)))
    yield* Deferred.await(taken)
  })
