import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { SessionId } from "../../domain/Primitives.ts"
import { SessionReplaced } from "../../domain/SessionErrors.ts"
import { HostSession } from "../../services/HostSession.ts"
import { SessionScope } from "../../services/SessionScope.ts"

/** The fence's switch. The entry turns it off synchronously, before anything is awaited (spec 3.1). */
export interface Fence {
  readonly sessionId: SessionId
  open: boolean
}

/**
 * The scope of one Pi session. Closing the layer's scope interrupts what was forked and waits for its release; `last`
 * closes after all scopes of the session.
 */
export const layer = (fence: Fence, last: Scope.Scope): Layer.Layer<SessionScope, never, HostSession> =>
  Layer.scoped(
    SessionScope,
    Effect.gen(function*() {
      const host = yield* HostSession
      const fibers = yield* FiberSet.make()
      yield* Effect.addFinalizer(() => Effect.sync(() => (fence.open = false)))
      const guard = Effect.gen(function*() {
        if (!fence.open) return yield* new SessionReplaced()
        const current = yield* host.currentId
        if (!Option.contains(current, fence.sessionId)) return yield* new SessionReplaced()
      })
      return {
        sessionId: fence.sessionId,
        guard,
        isOpen: () => fence.open,
        // A fiber inherits from where it is forked that it cannot be interrupted: begun in a commit step, it would outlive the fence.
        fork: (effect) => FiberSet.run(fibers, Effect.interruptible(effect)),
        last
      }
    })
  )
