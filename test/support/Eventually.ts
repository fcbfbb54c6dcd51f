import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** What was waited for did not come in time; `seen` is what could be seen instead. */
export class NeverCame extends Data.TaggedError("NeverCame")<{ readonly what: string; readonly seen: string }> {
  override get message(): string {
    return `never came: ${this.what}\n${this.seen}`
  }
}

/**
 * Looks until there is an answer. The deadline only bounds a hang: nothing waits for it when all is well, so it is
 * generous (a real Pi on a busy machine takes many seconds). `seen` tells the reader of a failure what was there.
 */
export const eventually = <A, E, R>(
  what: string,
  look: Effect.Effect<Option.Option<A>, E, R>,
  seen: Effect.Effect<string> = Effect.succeed(""),
  within: Duration.DurationInput = "100 seconds"
): Effect.Effect<A, E | NeverCame, R> =>
  Effect.gen(function*() {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
    for (;;) {
      const found = yield* look
      if (Option.isSome(found)) return found.value
      if ((yield* Clock.currentTimeMillis) > end) return yield* new NeverCame({ what, seen: yield* seen })
      yield* Effect.sleep("25 millis")
    }
  })

/** {@link eventually} for a condition. */
export const eventuallyTrue = <E, R>(
  what: string,
  look: Effect.Effect<boolean, E, R>,
  seen?: Effect.Effect<string>,
  within?: Duration.DurationInput
): Effect.Effect<void, E | NeverCame, R> =>
  eventually(what, Effect.map(look, (yes) => yes ? Option.some(undefined) : Option.none()), seen, within)
