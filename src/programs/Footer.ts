import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { statusLine } from "../domain/Attention.ts"
import { coordinatorOf, hasWorkers } from "../domain/TeamConfig.ts"
import { ConfigReader } from "../services/ConfigReader.ts"
import { HostSession } from "../services/HostSession.ts"
import { ObservationReader } from "../services/ObservationReader.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { Membership } from "./Membership.ts"

/** What nobody tells this session, such as what a worker does now, is seen this late at most. */
const pause = "5 seconds"
/** Events come in bursts, and the line is never urgent. */
const gather = "250 millis"
/** A read that hangs must not leave an old line there. */
const patience = "5 seconds"

const unread = "Intercom: what is recorded of the team cannot be read now, see /intercom doctor"

/** The coordinator's line of the team in its own Pi (issue 6). Nothing waits for it, and nothing it meets is a failure. */
export class Footer extends Context.Tag("pi-intercom/Footer")<Footer, {
  /** Looks again soon: something happened. */
  readonly refresh: Effect.Effect<void>
}>() {
  static readonly layer = Layer.effect(
    Footer,
    Effect.gen(function*() {
      const host = yield* HostSession
      const membership = yield* Membership
      const observations = yield* ObservationReader
      const reader = yield* ConfigReader
      const scope = yield* SessionScope
      const wake = yield* Effect.makeLatch(false)
      let shown: string | undefined

      /** Read, not entered: a look takes no lock and joins no team. */
      const isCoordinated = Effect.fn("Footer.isCoordinated")(function*(root: string) {
        const config = yield* Effect.either(reader.read(root))
        if (Either.isLeft(config)) return Option.contains(yield* membership.lastRole, "coordinator")
        return Option.exists(
          config.right,
          (team) => coordinatorOf(team).sessionId === scope.sessionId && hasWorkers(team)
        )
      })

      const line = Effect.gen(function*() {
        const root = yield* membership.team
        if (Option.isNone(root) || !(yield* isCoordinated(root.value))) return undefined
        return statusLine(yield* observations.snapshot(root.value))
      }).pipe(Effect.timeoutTo({ duration: patience, onSuccess: (text) => text, onTimeout: () => unread }))

      const look = Effect.gen(function*() {
        yield* wake.close
        const text = yield* line
        if (text !== shown) yield* host.status(text)
        shown = text
        yield* Effect.timeoutOption(wake.await, pause)
        yield* Effect.sleep(gather)
      })

      yield* scope.fork(Effect.ensuring(Effect.forever(look), host.status(undefined)))
      return { refresh: Effect.asVoid(wake.open) }
    })
  )
}
