import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { decodeEnvelope, encodeEnvelope, type Envelope } from "../../src/domain/Envelope.ts"
import { Port } from "../../src/domain/Primitives.ts"
import type { Probe } from "../../src/domain/Probe.ts"
import {
  OutcomeUnknown,
  Rejected,
  type SendError,
  sentenceForStatus,
  Undelivered
} from "../../src/domain/WireErrors.ts"
import { decide, type Decision } from "../../src/layers/IntercomServer/Decide.ts"
import { limits } from "../../src/layers/IntercomServer/Limits.ts"
import { type Endpoint, IntercomClient } from "../../src/services/IntercomClient.ts"
import { IntercomServer, type Receiver } from "../../src/services/IntercomServer.ts"
import { Secrets, type SigningKey } from "../../src/services/Secrets.ts"

/** What happens to one envelope on its way. All times are on the Clock. */
export type Fault =
  /** No effect; the sender cannot know. */
  | { readonly _tag: "Drop" }
  /** The effect, without its answer. */
  | { readonly _tag: "LoseAnswer" }
  /** The effect twice; the sender sees the first answer. */
  | { readonly _tag: "Duplicate" }
  /** It arrives later, even after its sender has given up: this is also how envelopes overtake each other. */
  | { readonly _tag: "Delay"; readonly ms: number }
  /** As if nothing listened. */
  | { readonly _tag: "Refuse" }

export type Script = (envelope: Envelope, to: Endpoint) => Fault | undefined

/** A network in memory that the sessions of a simulated team share. */
export interface Network {
  readonly server: Layer.Layer<IntercomServer>
  readonly client: Layer.Layer<IntercomClient, never, Secrets>
  /** Both ends, for a session. */
  readonly ends: Layer.Layer<IntercomServer | IntercomClient, never, Secrets>
  /** From now on decides what happens to each envelope; `undefined` lets it through. */
  readonly script: (script: Script) => void
  /** A stranger holds this port from now on, and proves nothing. */
  readonly squat: (port: Port) => void
  /** Every envelope that was handed to the network, with its recipient, also those that never arrived. */
  readonly sent: ReadonlyArray<{ readonly envelope: Envelope; readonly to: Endpoint }>
}

const sendMs = 5000

interface Listener {
  readonly receiver: Receiver
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
}

const sameTeam = (mine: SigningKey, theirs: Option.Option<SigningKey>): boolean =>
  Option.isSome(theirs) && theirs.value.verify("proof", mine.mac("proof"))

const outcomeOf = (decision: Decision): Effect.Effect<void, SendError> => {
  switch (decision._tag) {
    case "Accepted":
      return Effect.void
    case "Refused": {
      const { code, sentence, status } = decision.refusal
      return Effect.fail(new Rejected({ status, sentence, ...(code === undefined ? {} : { code }) }))
    }
    case "Cut":
      return Effect.fail(new OutcomeUnknown({ reason: "connection" }))
  }
}

/** A new network, with nobody on it and no faults. */
export const make = (): Network => {
  const listeners = new Map<Port, Listener>()
  const squatted = new Set<Port>()
  const sent: Array<{ readonly envelope: Envelope; readonly to: Endpoint }> = []
  let script: Script = () => undefined
  let nextPort = 40_000

  const freePort = (): Port => {
    for (;;) {
      const port = Port.make(nextPort++)
      if (!listeners.has(port) && !squatted.has(port)) return port
    }
  }

  const listen = Effect.fnUntraced(function*(saved: Option.Option<Port>, receiver: Receiver) {
    const run = yield* FiberSet.makeRuntime<never>()
    return yield* Effect.acquireRelease(
      Effect.sync(() => {
        const free = Option.filter(saved, (port) => !listeners.has(port) && !squatted.has(port))
        const port = Option.getOrElse(free, freePort)
        listeners.set(port, { receiver, run })
        return port
      }),
      (port) => Effect.sync(() => listeners.delete(port))
    )
  })

  /** One arrival, in the life of the listener: a sender that gives up does not take it back. */
  const arrive = ({ receiver, run }: Listener, envelope: Envelope, afterMs: number) =>
    run(
      Effect.zipRight(
        afterMs === 0 ? Effect.void : Effect.sleep(afterMs),
        Effect.suspend(() =>
          Either.match(decodeEnvelope(encodeEnvelope(envelope)), {
            onLeft: (sentence) => Effect.succeed<Decision>({ _tag: "Refused", refusal: { status: 400, sentence } }),
            onRight: (arrived) => decide((commit) => receiver.receive(arrived, true, commit), limits)
          })
        )
      )
    )

  const answerTo = (arrival: Fiber.RuntimeFiber<Decision>): Effect.Effect<void, SendError> =>
    Fiber.await(arrival).pipe(
      Effect.flatMap((exit) => exit._tag === "Success" ? outcomeOf(exit.value) : outcomeOf({ _tag: "Cut" })),
      Effect.timeoutFail({ duration: sendMs, onTimeout: () => new OutcomeUnknown({ reason: "deadline" }) })
    )

  const client = Effect.gen(function*() {
    const secrets = yield* Secrets

    const send = Effect.fnUntraced(function*(root: string, to: Endpoint, envelope: Envelope) {
      const key = yield* secrets.key(root)
      sent.push({ envelope, to })
      const fault = script(envelope, to)
      if (squatted.has(to.port)) return yield* new Undelivered({ reason: "unproven" })
      const listener = listeners.get(to.port)
      if (listener === undefined || fault?._tag === "Refuse") return yield* new Undelivered({ reason: "refused" })
      const { receiver } = listener
      if (!sameTeam(key, yield* receiver.key)) return yield* new Undelivered({ reason: "unproven" })
      if (!(yield* receiver.open)) return yield* new Rejected({ status: 503, sentence: sentenceForStatus(503) })
      if (receiver.sessionId !== to.sessionId) return yield* new Undelivered({ reason: "unproven" })
      switch (fault?._tag) {
        case "Drop":
          return yield* new OutcomeUnknown({ reason: "connection" })
        case "LoseAnswer":
          yield* Effect.ignore(answerTo(arrive(listener, envelope, 0)))
          return yield* new OutcomeUnknown({ reason: "connection" })
        case "Duplicate": {
          const first = arrive(listener, envelope, 0)
          arrive(listener, envelope, 0)
          return yield* answerTo(first)
        }
        case "Delay":
          return yield* answerTo(arrive(listener, envelope, fault.ms))
        case undefined:
          return yield* answerTo(arrive(listener, envelope, 0))
      }
    })

    const probe = (root: string, { port, sessionId }: Endpoint): Effect.Effect<Probe> =>
      Effect.gen(function*() {
        if (squatted.has(port)) return { state: "unknown", reason: "malformed" }
        const receiver = listeners.get(port)?.receiver
        if (receiver === undefined) return { state: "disconnected", reason: "refused" }
        if (!(yield* receiver.open)) return { state: "unknown", reason: "http_error" }
        if (receiver.sessionId !== sessionId) return { state: "disconnected", reason: "identity_mismatch" }
        const key = yield* Effect.option(secrets.key(root))
        const proven = Option.isSome(key) && sameTeam(key.value, yield* receiver.key)
        return { state: "connected", reason: proven ? "verified" : "unproven" }
      })

    const probeAll = (root: string, endpoints: ReadonlyArray<Endpoint>) =>
      Effect.forEach(
        endpoints,
        (endpoint, index): Effect.Effect<Probe> =>
          index < 256 ? probe(root, endpoint) : Effect.succeed({ state: "unknown", reason: "not_checked" })
      )

    return IntercomClient.of({ send, probe, probeAll })
  })

  const serverLayer = Layer.succeed(IntercomServer, { listen })
  const clientLayer = Layer.effect(IntercomClient, client)
  return {
    server: serverLayer,
    client: clientLayer,
    ends: Layer.merge(serverLayer, clientLayer),
    script: (next) => {
      script = next
    },
    squat: (port) => {
      squatted.add(port)
    },
    sent
  }
}
