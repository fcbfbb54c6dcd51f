import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { type Event, interleave, type Interleaving, type Start } from "./Interleaved.ts"

const taker = FastCheck.nat({ max: 2 })
const event: FastCheck.Arbitrary<Event> = FastCheck.oneof(
  { weight: 40, arbitrary: FastCheck.record({ _tag: FastCheck.constant("step" as const), taker }) },
  { weight: 1, arbitrary: FastCheck.record({ _tag: FastCheck.constant("kill" as const), taker }) },
  { weight: 1, arbitrary: FastCheck.record({ _tag: FastCheck.constant("interrupt" as const), taker }) },
  { weight: 1, arbitrary: FastCheck.constant({ _tag: "mend" as const }) },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("wait" as const),
      ms: FastCheck.constantFrom(10, 10, 10, 500, 2000)
    })
  }
)
const start: FastCheck.Arbitrary<Start> = FastCheck.constantFrom(
  "free",
  "stale",
  "stale",
  "stale",
  "stale, takeover left",
  "unknown owner",
  "rubbish"
)
const interleaving: FastCheck.Arbitrary<Interleaving> = FastCheck.record({
  start,
  pids: FastCheck.constantFrom([1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 2]),
  schedule: FastCheck.array(event, { minLength: 30, maxLength: 70, size: "max" })
})

describe("The lock routine, interleaved", () => {
  it("never has two owners, breaks no living owner's lock and no take-over, and leaves nothing: 10,000 schedules", () => {
    const seen = {
      taken: 0,
      takenOver: 0,
      killedInTakeover: 0,
      interruptedWaiting: 0,
      held: 0,
      unknown_owner: 0,
      takeover_left: 0,
      unreadable: 0
    }
    FastCheck.assert(
      FastCheck.property(interleaving, (one) => {
        const { refused, ...counts } = interleave(one)
        for (const [key, count] of Object.entries({ ...counts, ...refused })) {
          if (key in seen) Object.assign(seen, { [key]: Reflect.get(seen, key) + count })
        }
      }),
      { numRuns: 10_000 }
    )
    // The schedules are about something: each of these happens hundreds of times.
    for (const [key, count] of Object.entries(seen)) assert.isAbove(count, 100, `${key} in ${JSON.stringify(seen)}`)
  })
})
