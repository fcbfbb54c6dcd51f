import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { coalesceMs, compose, maxHeld, type Purpose, type Sender } from "../domain/Delivery.ts"
import { NotTaken } from "../domain/SessionErrors.ts"
import { HostSession } from "../services/HostSession.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { SessionScope } from "../services/SessionScope.ts"

/** A burst of registrations is shown after at most this long, however long it lasts. */
const maxBurstMs = 2_000

interface Waiting {
  readonly text: string
  readonly claim: Effect.Effect<void, unknown>
  readonly done: Deferred.Deferred<void, NotTaken>
}

/**
 * The one gate by which text reaches the host (spec 3.4). While a manual compaction runs texts wait in memory, at most
 * 64; order is kept.
 */
export class Delivery extends Context.Tag("pi-intercom/Delivery")<Delivery, {
  /** Hands one text to the host, or holds it. Uninterruptible: success means taken or held, failure means not delivered. */
  readonly deliver: (purpose: Purpose, sender: Sender, content: string) => Effect.Effect<void, NotTaken>
  /**
   * As `deliver`, but texts that come within 250 ms of each other are shown as one message (spec 3.3). `claim` is asked
   * when the message is made: a text whose claim fails is left out.
   */
  readonly gather: (
    purpose: Purpose,
    sender: Sender,
    content: string,
    claim: Effect.Effect<void, unknown>
  ) => Effect.Effect<void, NotTaken>
  /** A manual compaction began: texts wait from now on. */
  readonly hold: Effect.Effect<void>
  /** It ended: texts go on in a later macrotask (facts/pi: sends from within the event are dropped). */
  readonly release: Effect.Effect<void>
}>() {
  static readonly layer = Layer.effect(
    Delivery,
    Effect.gen(function*() {
      const host = yield* HostSession
      const log = yield* ObservationLog
      const scope = yield* SessionScope
      /** Counts compactions; odd while one runs. Events need not pair (facts/pi), so an end only ends the one it saw. */
      const compactions = yield* Ref.make(0)
      const compacting = Ref.get(compactions).pipe(Effect.map((count) => count % 2 === 1))
      const held = yield* Ref.make<ReadonlyArray<string>>([])
      const burst = yield* Ref.make<ReadonlyArray<Waiting>>([])
      const lastArrival = yield* Ref.make(0)

      const observe = (outcome: "submitted" | "held" | "dropped") => log.record({ event: "host.submission", outcome })

      const submit = Effect.fn("Delivery.submit")(function*(text: string) {
        if (!scope.isOpen()) return yield* new NotTaken({ why: "closing" })
        const taken = yield* host.deliver(text)
        yield* observe(taken ? "submitted" : "dropped")
        if (!taken) return yield* new NotTaken({ why: "dropped" })
      })

      const admit = Effect.fn("Delivery.admit")(function*(text: string) {
        const waiting = yield* Ref.get(held)
        if (!(yield* compacting) && waiting.length === 0) return yield* submit(text)
        if (waiting.length >= maxHeld) return yield* new NotTaken({ why: "held_full" })
        yield* Ref.set(held, [...waiting, text])
        yield* observe("held")
      }, Effect.uninterruptible)

      const flushHeld: Effect.Effect<void> = Effect.gen(function*() {
        const [next, ...rest] = yield* Ref.get(held)
        if (next === undefined || (yield* compacting)) return
        yield* Ref.set(held, rest)
        yield* submit(next).pipe(
          Effect.catchTag(
            "NotTaken",
            () =>
              host.notify(`Pi did not take a held message and it is lost: ${next.split("\n", 1).join("")}`, "warning")
          )
        )
        yield* flushHeld
      })

      const afterCompaction = Effect.fn("Delivery.afterCompaction")(function*(ended: number) {
        yield* Effect.sleep(0)
        yield* Ref.update(compactions, (count) => count === ended && count % 2 === 1 ? count + 1 : count)
        yield* flushHeld
      })

      const flushBurst = Effect.gen(function*() {
        const all = yield* Ref.getAndSet(burst, [])
        const waiting = yield* Effect.filter(all, (one) => Effect.isSuccess(one.claim))
        if (waiting.length === 0) return
        const outcome = yield* Effect.exit(admit(waiting.map((one) => one.text).join("\n")))
        yield* Effect.forEach(waiting, (one) => Deferred.done(one.done, outcome), { discard: true })
      }).pipe(Effect.uninterruptible)

      const quiet = (began: number): Effect.Effect<void> =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          const until = Math.min((yield* Ref.get(lastArrival)) + coalesceMs, began + maxBurstMs)
          if (now >= until) return
          yield* Effect.sleep(until - now)
          yield* quiet(began)
        })

      const gather = Effect.fn("Delivery.gather")(function*(
        purpose: Purpose,
        sender: Sender,
        content: string,
        claim: Effect.Effect<void, unknown>
      ) {
        const now = yield* Clock.currentTimeMillis
        const done = yield* Deferred.make<void, NotTaken>()
        const mine: Waiting = { text: compose(purpose, sender, content), claim, done }
        yield* Ref.set(lastArrival, now)
        const before = yield* Ref.getAndUpdate(burst, (waiting) => [...waiting, mine])
        if (before.length === 0) yield* scope.fork(quiet(now).pipe(Effect.zipRight(flushBurst)))
        yield* Deferred.await(mine.done).pipe(
          Effect.onInterrupt(() => Ref.update(burst, (waiting) => waiting.filter((one) => one !== mine)))
        )
      })

      return {
        deliver: (purpose, sender, content) => admit(compose(purpose, sender, content)),
        gather,
        hold: Ref.update(compactions, (count) => count % 2 === 1 ? count + 2 : count + 1),
        release: Effect.flatMap(Ref.get(compactions), (ended) => scope.fork(afterCompaction(ended)))
      }
    })
  )
}
