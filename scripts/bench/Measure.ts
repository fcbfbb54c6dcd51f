import * as Effect from "effect/Effect"

/** The figures of one group, by the keys that design/testing.md gives them. */
export type Figures = Readonly<Record<string, number>>

/** Milliseconds that an effect takes. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const begin = performance.now()
    return Effect.map(effect, () => performance.now() - begin)
  })

/** The middle of the values; of none, NaN. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** Runs a measurement some times for nothing (the engine compiles, caches fill), then for its values. */
export const repeated = <E, R>(
  sample: Effect.Effect<number, E, R>,
  rounds: { readonly warmUp: number; readonly counted: number }
): Effect.Effect<ReadonlyArray<number>, E, R> =>
  Effect.zipRight(Effect.replicateEffect(sample, rounds.warmUp), Effect.replicateEffect(sample, rounds.counted))

/** The median of ours over the median of a baseline; both are measured in turn, so that a busy moment hits both. */
export const ratio = <E, R, E2, R2>(
  ours: Effect.Effect<number, E, R>,
  baseline: Effect.Effect<number, E2, R2>,
  rounds: { readonly warmUp: number; readonly counted: number }
): Effect.Effect<number, E | E2, R | R2> =>
  Effect.gen(function*() {
    const [us, them]: [Array<number>, Array<number>] = [[], []]
    for (let n = 0; n < rounds.warmUp + rounds.counted; n += 1) {
      const bare = yield* baseline
      const own = yield* ours
      if (n < rounds.warmUp) continue
      us.push(own)
      them.push(bare)
    }
    return median(us) / median(them)
  })
