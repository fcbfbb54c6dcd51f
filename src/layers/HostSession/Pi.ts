import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { NotTaken } from "../../domain/SessionErrors.ts"
import { HostSession } from "../../services/HostSession.ts"
import type { InputWitness } from "./InputWitness.ts"
import type { WorkWitness } from "./WorkWitness.ts"

/** A start that does not come within this has failed in the host; a receiver has 4 s to decide (spec 2.1). */
const startBound = "1500 millis"
/** Reached only when the host drops a text or another extension is slow. */
const acknowledgementBound = "1 second"
const look = Schedule.spaced("5 millis")

/** Our line among those of other extensions. */
const statusKey = "intercom"

/** Pi throws on every use of a context or API of a session that it has replaced (both hosts). */
const whileCurrent = <A>(use: () => A): Effect.Effect<Option.Option<A>> => Effect.option(Effect.try(use))

/** What is used of Pi's API. */
type Pi = Pick<ExtensionAPI, "sendUserMessage" | "setSessionName">

/** What is used of the context of a `session_start`. */
interface Session extends Pick<ExtensionContext, "cwd" | "isIdle"> {
  readonly sessionManager: Pick<ExtensionContext["sessionManager"], "getSessionId">
  readonly ui: Pick<ExtensionContext["ui"], "notify" | "setStatus" | "select">
}

const make = (
  pi: Pi,
  context: Session,
  witness: InputWitness,
  work: WorkWitness,
  present: (text: string) => string
): HostSession["Type"] => {
  const turn = Effect.unsafeMakeSemaphore(1)
  const idle = whileCurrent(() => context.isIdle()).pipe(Effect.map(Option.getOrElse(() => false)))

  // A busy host queues what comes; one that is about to start, and still calls itself idle, would lose it.
  const steerable = Effect.map(idle, (isIdle) => !(isIdle && witness.starting())).pipe(
    Effect.repeat({ until: (yes) => yes, schedule: look }),
    Effect.timeoutFail({ duration: startBound, onTimeout: () => new NotTaken({ why: "not_ready" }) }),
    // It may still come, or never: this text is not risked for it, and the next one does not wait again.
    Effect.tapError(() => Effect.sync(witness.forgetStart))
  )

  const hand = Effect.fn("HostSession.hand")(function*(text: string, options?: { readonly ofJob: boolean }) {
    const answer = yield* Deferred.make<boolean>()
    const settle = (taken: boolean) => Deferred.unsafeDone(answer, Effect.succeed(taken))
    const giveUp = witness.expect(text, () => settle(true))
    const stop = Effect.sync(() => settle(giveUp()))
    // An interruption reaches the children of a fiber at once, even of an uninterruptible one.
    const alarm = yield* Effect.forkDaemon(
      Effect.interruptible(Effect.zipRight(Effect.sleep(acknowledgementBound), stop))
    )
    if (options?.ofJob === true) work.markOfJob(text)
    const sent = yield* whileCurrent(() => pi.sendUserMessage(text, { deliverAs: "steer" }))
    if (Option.isNone(sent)) yield* stop
    // From here the host may have the text, so the answer is waited for, interrupted or not.
    const taken = yield* Deferred.await(answer)
    yield* Fiber.interrupt(alarm)
    return taken
  }, Effect.uninterruptible)

  return {
    currentId: whileCurrent(() => context.sessionManager.getSessionId()),
    directory: context.cwd,
    idle,
    whenReady: (step) => turn.withPermits(1)(Effect.zipRight(steerable, step)),
    deliver: hand,
    setName: (name) => Effect.asVoid(whileCurrent(() => pi.setSessionName(name))),
    notify: (text, level) => Effect.asVoid(whileCurrent(() => context.ui.notify(present(text), level))),
    status: (text) =>
      Effect.asVoid(whileCurrent(() => context.ui.setStatus(statusKey, text === undefined ? text : present(text)))),
    // Pi's own confirmation begins on "Yes": an Enter that was meant for something else would do it.
    confirm: (title, text, { no, yes }) =>
      Effect.tryPromise((signal) => context.ui.select(`${title}\n${present(text)}`, [no, yes], { signal })).pipe(
        Effect.map((chosen) => chosen === yes),
        Effect.orElseSucceed(() => false)
      )
  }
}

/**
 * The session of one `session_start`, by the context that Pi gave with it. Texts are handed over one at a time.
 * `present` is applied to all that the person is shown.
 */
export const layer = (
  pi: Pi,
  context: Session,
  witness: InputWitness,
  work: WorkWitness,
  present: (text: string) => string
): Layer.Layer<HostSession> => Layer.sync(HostSession, () => make(pi, context, witness, work, present))
