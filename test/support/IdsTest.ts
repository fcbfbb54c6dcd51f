import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Ids } from "../../src/services/Ids.ts"

/** Ids that count up and say which session made them: the same in every run, never the same twice. */
export const makeIds = (session: number): Layer.Layer<Ids> =>
  Layer.sync(Ids, () => {
    let made = 0
    const next = Effect.sync(() => {
      made += 1
      return made
    })
    const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0")
    return {
      uuid: Effect.map(next, (count) => `${hex(session, 8)}-0000-4000-8000-${hex(count, 12)}`),
      nonce: Effect.map(next, (count) => `nonce-${hex(session, 6)}-${hex(count, 9)}`)
    }
  })

/** Ids of a test with one session. */
export const layer: Layer.Layer<Ids> = makeIds(0)
