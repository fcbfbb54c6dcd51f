import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { encodeEnvelope, type Envelope, mayBeUnsigned } from "../../domain/Envelope.ts"
import { AllowUnauthenticated } from "../../domain/Environment.ts"
import { judgeHealth, type Probe } from "../../domain/Probe.ts"
import { Undelivered } from "../../domain/WireErrors.ts"
import { Ids } from "../../services/Ids.ts"
import { type Endpoint, IntercomClient } from "../../services/IntercomClient.ts"
import { Secrets, type SigningKey } from "../../services/Secrets.ts"
import type { ExchangeFailed, Request } from "./Exchange.ts"
import * as Holders from "./Holders.ts"
import { lossOf, outcomeOf, rejectionOf } from "./Judge.ts"
import { health, type Limits, limits as binding, maxProbes, posted, probesAtOnce } from "./Limits.ts"
import { type Judged, signed, unsigned } from "./Signed.ts"

const notChecked: Probe = { state: "unknown", reason: "not_checked" }

const nothing = Buffer.alloc(0)

const healthRequest = ({ port }: Endpoint, deadlineMs: number): Request => ({
  port,
  deadlineMs,
  method: "GET",
  path: "/intercom/health",
  headers: {},
  body: nothing,
  ...health
})

const postRequest = ({ port }: Endpoint, body: Buffer, deadlineMs: number): Request => ({
  port,
  deadlineMs,
  method: "POST",
  path: "/intercom",
  headers: { "content-type": "application/json" },
  body,
  ...posted
})

const unanswered = ({ reason }: ExchangeFailed): Probe => {
  switch (reason) {
    case "refused":
      return { state: "disconnected", reason: "refused" }
    case "deadline":
      return { state: "disconnected", reason: "timeout" }
    case "oversized":
      return { state: "unknown", reason: "oversize" }
    case "malformed":
      return { state: "unknown", reason: "malformed" }
    case "connection":
    case "unreachable":
      return { state: "unknown", reason: "network_error" }
  }
}

/** Nothing was sent to a holder that could not be asked. */
const notProven = ({ reason }: ExchangeFailed): Undelivered =>
  new Undelivered({ reason: reason === "refused" || reason === "unreachable" ? reason : "unproven" })

/** Exported for tests, which shorten the limits. */
export const makeWith = (limits: Limits) =>
  Effect.gen(function*() {
    const secrets = yield* Secrets
    const ids = yield* Ids
    const lenient = yield* Effect.orDie(AllowUnauthenticated)
    const holders = Holders.make()

    const ask = (request: Request, key: SigningKey): Effect.Effect<Judged, ExchangeFailed> =>
      Effect.flatMap(ids.nonce, (nonce) => signed(request, key, nonce))

    /** Notes what an answer says about who holds the port. */
    const note = (root: string, to: Endpoint, answer: Judged): Effect.Effect<void> =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (answer.proven) holders.proved(root, to, now)
        else holders.forget(root, to)
      })

    /** Whether the holder of the port has proven itself; false when it only names the session, where that is enough. */
    const prove = Effect.fnUntraced(function*(root: string, to: Endpoint, key: SigningKey, envelope: Envelope) {
      const answer = yield* Effect.mapError(ask(healthRequest(to, limits.sendMs), key), notProven)
      const { reason } = judgeHealth(answer, to.sessionId)
      if (reason === "verified") {
        yield* note(root, to, answer)
        return true
      }
      if (reason === "unproven" && lenient && mayBeUnsigned(envelope.kind)) return false
      // Its fence is closed: it says so itself, and there is no need to send it anything.
      if (answer.proven && answer.status === 503) return yield* rejectionOf(answer)
      return yield* new Undelivered({ reason: "unproven" })
    })

    const send = Effect.fnUntraced(function*(root: string, to: Endpoint, envelope: Envelope) {
      const key = yield* secrets.key(root)
      const began = yield* Clock.currentTimeMillis
      const proven = holders.isProven(root, to, began) || (yield* prove(root, to, key, envelope))
      const left = began + limits.sendMs - (yield* Clock.currentTimeMillis)
      const request = postRequest(to, Buffer.from(encodeEnvelope(envelope)), left)
      const answer = yield* (proven ? ask(request, key) : unsigned(request)).pipe(
        Effect.tapError(() => Effect.sync(() => holders.forget(root, to))),
        Effect.mapError(lossOf)
      )
      yield* note(root, to, answer)
      yield* outcomeOf(answer, lenient && mayBeUnsigned(envelope.kind))
    })

    const probe = Effect.fnUntraced(function*(root: string, endpoint: Endpoint) {
      const request = healthRequest(endpoint, limits.probeMs)
      const key = yield* Effect.option(secrets.key(root))
      const asked = Option.match(key, { onNone: () => unsigned(request), onSome: (known) => ask(request, known) })
      const answer = yield* Effect.either(asked)
      if (Either.isLeft(answer)) return unanswered(answer.left)
      const seen = judgeHealth(answer.right, endpoint.sessionId)
      if (seen.reason === "verified") yield* note(root, endpoint, answer.right)
      return seen
    })

    const probeAll = Effect.fnUntraced(function*(root: string, endpoints: ReadonlyArray<Endpoint>) {
      const seen: Array<Probe> = endpoints.map(() => notChecked)
      const look = (endpoint: Endpoint, index: number) =>
        Effect.map(probe(root, endpoint), (result) => {
          seen[index] = result
        })
      yield* Effect.forEach(endpoints.slice(0, maxProbes), look, { concurrency: probesAtOnce, discard: true }).pipe(
        Effect.timeoutOption(limits.batchMs)
      )
      return seen
    })

    return { send, probe, probeAll }
  })

/** node:http, one connection for each exchange (spec 2.4, 2.5). */
export const layer: Layer.Layer<IntercomClient, never, Secrets | Ids> = Layer.effect(IntercomClient, makeWith(binding))
