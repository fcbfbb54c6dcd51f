import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { coalesceMs, compose, maxHeld, type Purpose, type Sender } from "../domain/Delivery.ts"
import { NotTaken } from "../domain/SessionErrors.ts"
import { HostSession } from "../services/HostSession.ts"
import { ObservationLog } from "../services/ObservationLog.ts"
import { SessionScope } from "../services/SessionScope.ts"

/** A burst of registrations is shown after at most this long, however long it lasts. */
const maxBurstMs = 2_000

/** A text, and whether it is of this worker's close job: then it begins no new epoch (spec 6.2). */
interface Text {
  readonly text: string
  readonly ofJob: boolean
  /** Whether it is still to be handed over, should it have been held. */
  readonly still?: Effect.Effect<boolean>
}

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
  /**
   * Hands one text to the host, or holds it; a close request as one of the job (spec 6.2 Epochs). Waits, interruptibly,
   * until the host can take it; then runs `step` with the act that does it, which looks at the fence and the compaction
   * again: the caller's commit point. An act that failed did not deliver. A text that was held is dropped without a word
   * when `still` says so once it could be handed over.
   */
  readonly deliver: <E, R>(
    purpose: Purpose,
    sender: Sender,
    content: string,
    step: (act: Effect.Effect<void, NotTaken>) => Effect.Effect<void, E, R>,
    still?: Effect.Effect<boolean>
  ) => Effect.Effect<void, E | NotTaken, R>
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
      const held = yield* Ref.make<ReadonlyArray<Text>>([])
      const burst = yield* Ref.make<ReadonlyArray<Waiting>>([])
      const lastArrival = yield* Ref.make(0)

      const observe = (outcome: "submitted" | "held" | "dropped") => log.record({ event: "host.submission", outcome })

      const holding = Effect.zipWith(compacting, Ref.get(held), (now, waiting) => now || waiting.length > 0)

      const hold = Effect.fn("Delivery.hold")(function*(text: Text) {
        const waiting = yield* Ref.get(held)
        if (waiting.length >= maxHeld) return yield* new NotTaken({ why: "held_full" })
        yield* Ref.set(held, [...waiting, text])
        yield* observe("held")
      })

      const submit = Effect.fn("Delivery.submit")(function*({ ofJob, text }: Text) {
        if (!scope.isOpen()) return yield* new NotTaken({ why: "closing" })
        const taken = yield* host.deliver(text, { ofJob })
        yield* observe(taken ? "submitted" : "dropped")
        if (!taken) return yield* new NotTaken({ why: "dropped" })
      })

      const lose = Effect.fn("Delivery.lose")(function*() {
        const [lost] = yield* Ref.getAndUpdate(held, (waiting) => waiting.slice(1))
        const line = lost?.text.split("\n", 1).join("") ?? ""
        yield* host.notify(`Pi did not take a held message and it is lost: ${line}`, "warning")
      })

      /** Hands over the first of what is held, looked at in its turn: two ends of compactions never hand over one twice. */
      const flushOne = host.whenReady(Effect.uninterruptible(Effect.gen(function*() {
        const [next] = yield* Ref.get(held)
        if (next === undefined || (yield* compacting)) return
        if (next.still === undefined || (yield* next.still)) yield* submit(next)
        yield* Ref.update(held, (waiting) => waiting.slice(1))
      })))

      /** A new compaction keeps what is left; what Pi drops without one is named. */
      const flushHeld: Effect.Effect<void> = Effect.gen(function*() {
        const waiting = yield* Ref.get(held)
        if (waiting.length === 0 || (yield* compacting)) return
        yield* Effect.catchTag(flushOne, "NotTaken", () => Effect.unlessEffect(lose(), compacting))
        yield* flushHeld
      })

      /** Runs `step` where a text can be acted upon; the act decides at that very moment between host and hold. */
      const taking = <E, R>(
        step: (act: (text: Text) => Effect.Effect<void, NotTaken>) => Effect.Effect<void, E, R>
      ): Effect.Effect<void, E | NotTaken, R> => {
        const act = (text: Text) => Effect.if(holding, { onTrue: () => hold(text), onFalse: () => submit(text) })
        // Without its turn a text is only held, also when the compaction ended meanwhile: then it goes on at once.
        const keep = (text: Text) => Effect.zipRight(hold(text), Effect.asVoid(scope.fork(flushHeld)))
        return Effect.if(holding, { onTrue: () => step(keep), onFalse: () => host.whenReady(step(act)) })
      }

      const afterCompaction = Effect.fn("Delivery.afterCompaction")(function*(ended: number) {
        yield* Effect.sleep(0)
        yield* Ref.update(compactions, (count) => count === ended && count % 2 === 1 ? count + 1 : count)
        yield* flushHeld
      })

      const flushBurst = Effect.gen(function*() {
        const end = (waiting: ReadonlyArray<Waiting>, outcome: Exit.Exit<void, NotTaken>) =>
          Effect.forEach(waiting, (one) => Deferred.done(one.done, outcome), { discard: true })
        yield* taking((act) =>
          Effect.gen(function*() {
            const waiting = yield* Effect.filter(yield* Ref.getAndSet(burst, []), (one) => Effect.isSuccess(one.claim))
            if (waiting.length === 0) return
            const text = waiting.map((one) => one.text).join("\n")
            yield* end(waiting, yield* Effect.exit(act({ text, ofJob: false })))
          }).pipe(Effect.uninterruptible)
        ).pipe(
          Effect.catchAll((error) =>
            Effect.flatMap(Ref.getAndSet(burst, []), (waiting) => end(waiting, Exit.fail(error)))
          )
        )
      })

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
        deliver: (purpose, sender, content, step, still) => {
          const text: Text = {
            text: compose(purpose, sender, content),
            ofJob: purpose === "close request",
            ...(still === undefined ? {} : { still })
          }
          return taking((act) => step(act(text)))
        },
        gather,
        hold: Ref.update(compactions, (count) => count % 2 === 1 ? count + 2 : count + 1),
        release: Effect.flatMap(Ref.get(compactions), (ended) => scope.fork(afterCompaction(ended)))
      }
    })
  )
}
