import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { decodeEnvelope, encodeEnvelope, type Envelope } from "../../../src/domain/Envelope.ts"
import { Port } from "../../../src/domain/Primitives.ts"
import type { Probe } from "../../../src/domain/Probe.ts"
import {
  OutcomeUnknown,
  Rejected,
  type SendError,
  sentenceForStatus,
  Undelivered
} from "../../../src/domain/WireErrors.ts"
import { decide, type Decision } from "../../../src/layers/IntercomServer/Decide.ts"
import { limits } from "../../../src/layers/IntercomServer/Limits.ts"
import { type Endpoint, IntercomClient } from "../../../src/services/IntercomClient.ts"
import { IntercomServer, type Receiver } from "../../../src/services/IntercomServer.ts"
import type { Observer } from "./Observer.ts"
import { closeKinds, type Point } from "./Schedule.ts"
import type { Body, World } from "./World.ts"

const sendMs = 5000

interface Listener {
  readonly body: Body
  readonly receiver: Receiver
  /** What waits for an answer of this process, and is cut when it ends. */
  readonly open: Set<() => void>
}

/** The loopback network of a machine. What a process that ends had begun to answer is cut. */
export interface Wire {
  readonly of: (body: Body) => Context.Context<IntercomServer | IntercomClient>
  /** Cuts what waits for answers of this body. */
  readonly cut: (body: Body) => void
}

const kinds: ReadonlySet<string> = new Set(closeKinds)
const pointsOf = new Map<string, ReadonlyArray<Point>>(
  closeKinds.map((kind) => [kind, [`${kind} out`, `${kind} in`, `${kind} back`]])
)

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

/** A network with nobody on it. */
export const makeWire = (world: World, observer: Observer): Wire => {
  const { machine } = world
  const listeners = new Map<Port, Listener>()
  let nextPort = 40_000

  const moment = (kind: string, phase: 0 | 1 | 2) => {
    const point = pointsOf.get(kind)?.[phase]
    return point === undefined ? Effect.void : world.moment(point)
  }

  /** One arrival, in the life of the process that listens; what it decides is told once, unless it ends before. */
  const arrive = (listener: Listener, envelope: Envelope): Effect.Effect<Decision> =>
    Effect.async<Decision>((resume) => {
      const { body, open, receiver } = listener
      const cut = () => {
        open.delete(cut)
        resume(Effect.succeed({ _tag: "Cut" }))
      }
      if (!body.step.alive()) return cut()
      observer.arrived(body, envelope)
      open.add(cut)
      const decided = Effect.suspend(() =>
        Either.match(decodeEnvelope(encodeEnvelope(envelope)), {
          onLeft: (sentence) => Effect.succeed<Decision>({ _tag: "Refused", refusal: { status: 400, sentence } }),
          onRight: (arrived) => decide((commit) => receiver.receive(arrived, true, commit), limits)
        })
      )
      const watched = Effect.tap(decided, (decision) => Effect.sync(() => observer.answered(body, envelope, decision)))
      body.step.fork(Effect.zipRight(moment(envelope.kind, 1), watched))
        .addObserver((exit) => {
          if (!open.delete(cut)) return
          if (exit._tag === "Failure" && exit.cause._tag === "Die") {
            world.fail(`a receiver died: ${String(exit.cause.defect)}`)
          }
          resume(Effect.succeed(exit._tag === "Success" ? exit.value : { _tag: "Cut" }))
        })
    })

  const of: Wire["of"] = (body) => {
    const listen = (saved: Option.Option<Port>, receiver: Receiver) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const free = Option.filter(saved, (port) => {
            const other = listeners.get(port)
            return other === undefined || !other.body.os.alive
          })
          const port = Option.getOrElse(free, () => Port.make(nextPort++))
          listeners.set(port, { body, receiver, open: new Set() })
          return port
        }),
        (port) =>
          Effect.sync(() => {
            const mine = listeners.get(port)
            if (mine?.body !== body) return
            listeners.delete(port)
            for (const cut of [...mine.open]) cut()
          })
      )

    const send = (_: string, to: Endpoint, envelope: Envelope): Effect.Effect<void, SendError> =>
      Effect.gen(function*() {
        const { kind } = envelope
        observer.sending(body, envelope)
        const fault = kinds.has(kind) ? world.netFault(kind) : undefined
        yield* moment(kind, 0)
        yield* Effect.sleep(world.jitter(3))
        if (fault === "Slow") yield* Effect.sleep(4500)
        const listener = listeners.get(to.port)
        if (listener === undefined || !listener.body.os.alive || fault === "Refuse") {
          return yield* new Undelivered({ reason: "refused" })
        }
        if (!(yield* listener.receiver.open) || fault === "Busy") {
          return yield* new Rejected({ status: 503, sentence: sentenceForStatus(503) })
        }
        if (listener.receiver.sessionId !== to.sessionId) return yield* new Undelivered({ reason: "unproven" })
        if (fault === "Drop") return yield* new OutcomeUnknown({ reason: "connection" })
        if (fault === "Duplicate" || fault === "Late") {
          const again = () => void listener.body.step.fork(arrive(listener, envelope))
          machine.after(fault === "Late" ? 2300 : 0, again)
        }
        const decision = yield* arrive(listener, envelope)
        yield* moment(kind, 2)
        yield* Effect.sleep(world.jitter(2))
        if (fault === "LoseAnswer") return yield* new OutcomeUnknown({ reason: "connection" })
        yield* outcomeOf(decision)
      }).pipe(
        Effect.timeoutFail({ duration: sendMs, onTimeout: () => new OutcomeUnknown({ reason: "deadline" }) }),
        Effect.tapBoth({
          onFailure: (error) => Effect.sync(() => observer.sent(body, envelope, error)),
          onSuccess: () => Effect.sync(() => observer.sent(body, envelope, undefined))
        })
      )

    const probe = (_: string, { port, sessionId }: Endpoint): Effect.Effect<Probe> =>
      Effect.gen(function*() {
        yield* Effect.sleep(1)
        const listener = listeners.get(port)
        if (listener === undefined || !listener.body.os.alive) return { state: "disconnected", reason: "refused" }
        if (!(yield* listener.receiver.open)) return { state: "unknown", reason: "http_error" }
        if (listener.receiver.sessionId !== sessionId) return { state: "disconnected", reason: "identity_mismatch" }
        return { state: "connected", reason: "verified" }
      })

    return Context.make(IntercomServer, { listen }).pipe(
      Context.add(IntercomClient, {
        send,
        probe,
        probeAll: (root, endpoints) => Effect.forEach(endpoints, (endpoint) => probe(root, endpoint))
      })
    )
  }

  return {
    of,
    cut: (body) => {
      for (const listener of listeners.values()) {
        if (listener.body === body) { for (const cut of [...listener.open]) cut() }
      }
    }
  }
}
