import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type Endpoint, IntercomClient } from "../src/services/IntercomClient.ts"
import { ObservationReader } from "../src/services/ObservationReader.ts"
import type { News } from "./News.ts"

/** Passes never overlap: the next starts this long after the last one ended (spec 8). */
const pause = Schedule.spaced("3 seconds")
/** A batch of probes (spec 2.5). */
const probesAtOnce = 16
const batchLasts = "4 seconds"

const keyOf = ({ port, sessionId }: Endpoint): string => `${port} ${sessionId}`

/**
 * Tells what the files say, at once, and then each endpoint's answer as it comes, over and over; never ends, and is
 * interruptible at every wait. While there is no team file that can be used, those of the last one are asked. It goes on
 * only once what it tells has been taken: who takes nothing is not told more and more.
 */
export const watch = (
  root: string,
  tell: (news: News) => Effect.Effect<void>
): Effect.Effect<never, never, ObservationReader | IntercomClient> =>
  Effect.gen(function*() {
    const reader = yield* ObservationReader
    const client = yield* IntercomClient
    let endpoints: ReadonlyArray<Endpoint> = []
    const answeredAt = new Map<string, number>()
    // Those first whose last answer is oldest, so that nobody starves when time runs out.
    const due = () => {
      const at = (endpoint: Endpoint): number => answeredAt.get(keyOf(endpoint)) ?? -1
      return endpoints.toSorted((a, b) => at(a) - at(b))
    }
    const read = Effect.gen(function*() {
      const snapshot = yield* reader.snapshot(root)
      yield* tell({ _tag: "Read", snapshot, at: yield* Clock.currentTimeMillis })
      if (snapshot.errors.includes("config_unavailable")) return
      endpoints = snapshot.workers.map(({ agent: { port, sessionId } }) => ({ port, sessionId }))
      const known = new Set(endpoints.map(keyOf))
      for (const key of answeredAt.keys()) if (!known.has(key)) answeredAt.delete(key)
    })
    const ask = (endpoint: Endpoint) =>
      Effect.gen(function*() {
        const probe = yield* client.probe(root, endpoint)
        const at = yield* Clock.currentTimeMillis
        answeredAt.set(keyOf(endpoint), at)
        yield* tell({ _tag: "Answered", endpoint, probe, at })
      })
    const pass = Effect.zipRight(
      read,
      Effect.suspend(() => Effect.forEach(due(), ask, { concurrency: probesAtOnce, discard: true })).pipe(
        Effect.timeoutOption(batchLasts)
      )
    )
    return yield* Effect.zipRight(Effect.repeat(pass, pause), Effect.never)
  })
