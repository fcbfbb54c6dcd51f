import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import type { Port } from "../domain/Primitives.ts"
import { agentBySession, maxWorkers, type TeamConfig } from "../domain/TeamConfig.ts"

/** A session as it registered. */
export interface Newcomer {
  readonly sessionId: string
  readonly port: Port
  readonly projectDirectory: string
}

/**
 * The sessions that have registered since this session's start, for the person to see. Nothing is decided by it and
 * nothing of it is written: a registration is the model's to act upon (spec 3.3).
 */
export class Newcomers extends Context.Tag("pi-intercom/Newcomers")<Newcomers, {
  readonly note: (newcomer: Newcomer) => Effect.Effect<void>
  /** Those that the team file does not name, in the order in which they came; the newest 256 at most. */
  readonly unconfigured: (config: TeamConfig) => Effect.Effect<ReadonlyArray<Newcomer>>
}>() {
  static readonly layer = Layer.effect(
    Newcomers,
    Effect.map(Ref.make<ReadonlyArray<Newcomer>>([]), (known) => ({
      note: (newcomer: Newcomer) =>
        Ref.update(
          known,
          (all) => [...all.filter(({ sessionId }) => sessionId !== newcomer.sessionId), newcomer].slice(-maxWorkers)
        ),
      unconfigured: (config: TeamConfig) =>
        Effect.map(
          Ref.get(known),
          (all) => all.filter(({ sessionId }) => agentBySession(config, sessionId) === undefined)
        )
    }))
  )
}
