import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { IntercomClient } from "../src/services/IntercomClient.ts"
import { ObservationReader } from "../src/services/ObservationReader.ts"
import { type State, withCheck, withSnapshot, workersOf } from "./State.ts"

/** Passes never overlap: the next starts this long after the last one ended (spec 8). */
const pause = Schedule.spaced("3 seconds")
/** A batch of probes (spec 2.5). */
const probesAtOnce = 16
const batchLasts = "4 seconds"

/** Who is asked, in this order: those first whose last answer is oldest, so that nobody starves when time runs out. */
const due = (state: State) => {
  const askedAt = (id: string): number => state.checks.get(id)?.at ?? -1
  return workersOf(state).map(({ agent }) => agent).toSorted((a, b) => askedAt(a.sessionId) - askedAt(b.sessionId))
}

/** One pass: the files, shown at once, then each endpoint, shown as it answers. */
const pass = (state: SubscriptionRef.SubscriptionRef<State>) =>
  Effect.gen(function*() {
    const reader = yield* ObservationReader
    const client = yield* IntercomClient
    const { root } = yield* SubscriptionRef.get(state)
    const snapshot = yield* reader.snapshot(root)
    const readAt = yield* Clock.currentTimeMillis
    const read = yield* SubscriptionRef.updateAndGet(state, (now) => withSnapshot(now, snapshot, readAt))
    yield* Effect.forEach(due(read), ({ port, sessionId }) =>
      Effect.gen(function*() {
        const endpoint = { sessionId, port }
        const probe = yield* client.probe(root, endpoint)
        const answeredAt = yield* Clock.currentTimeMillis
        yield* SubscriptionRef.update(state, (now) => withCheck(now, endpoint, probe, answeredAt))
      }), { concurrency: probesAtOnce, discard: true }).pipe(Effect.timeoutOption(batchLasts))
  })

/** Keeps the state up to what the files say and the endpoints answer; never ends, and is interruptible at every wait. */
export const watch = (
  state: SubscriptionRef.SubscriptionRef<State>
): Effect.Effect<never, never, ObservationReader | IntercomClient> =>
  Effect.zipRight(Effect.repeat(pass(state), pause), Effect.never)
