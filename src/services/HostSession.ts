import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { NotTaken } from "../domain/SessionErrors.ts"

/** The two answers that the person chooses between, as they are shown. */
export interface Answers {
  readonly no: string
  readonly yes: string
}

/** The Pi session that this extension instance serves. Every method is safe after the session was replaced. */
export class HostSession extends Context.Tag("pi-intercom/HostSession")<HostSession, {
  /** The host's current session id; none once the host has gone on to another session or its context is stale. */
  readonly currentId: Effect.Effect<Option.Option<string>>
  /** The directory the session works in. */
  readonly directory: string
  /** Whether the host says that nothing runs. */
  readonly idle: Effect.Effect<boolean>
  /**
   * Waits for its turn and until the host can take a text (interruptibly, a few seconds at most), then runs `step`, in
   * which {@link deliver} may be called once. Fails when the host does not get ready: then `step` did not run.
   */
  readonly whenReady: <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NotTaken, R>
  /**
   * Hands a text to the host as a user message that steers (spec 3.4); only inside {@link whenReady}. False when the host
   * dropped it: our own input handler did not run for it (facts/pi). Uninterruptible, at most 1 s. `ofJob`: it is a
   * delivery of the running close job, which begins no new epoch (spec 6.2 Epochs).
   */
  readonly deliver: (text: string, options?: { readonly ofJob: boolean }) => Effect.Effect<boolean>
  /** Sets the host's session name. */
  readonly setName: (name: string) => Effect.Effect<void>
  /** Shows one line to the person. */
  readonly notify: (text: string, level: "info" | "warning" | "error") => Effect.Effect<void>
  /** Keeps one line in sight of the person, beside those of other extensions, until another one or none takes its place. */
  readonly status: (text: string | undefined) => Effect.Effect<void>
  /** Asks the person, `no` being chosen until they choose; false when they decline or cannot be asked. */
  readonly confirm: (title: string, text: string, answers: Answers) => Effect.Effect<boolean>
}>() {}
