import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as http from "node:http"
import { encodeEnvelope, type Envelope } from "../../src/domain/Envelope.ts"
import { type Port, SessionId } from "../../src/domain/Primitives.ts"
import * as Ids from "../../src/layers/Ids/Node.ts"
import * as Client from "../../src/layers/IntercomClient/Http.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as Secrets from "../../src/layers/Secrets/File.ts"
import * as StateDir from "../../src/layers/StateDir/File.ts"
import { IntercomClient } from "../../src/services/IntercomClient.ts"
import { listening } from "./Child.ts"
import { ratio, round, timed } from "./Measure.ts"
import { tool } from "./Tool.ts"

const to = SessionId.make("receiver")

/** An envelope whose JSON text has exactly this many bytes. */
const envelopeOf = (bytes: number): Envelope => {
  const of = (message: string): Envelope => ({
    version: 1,
    kind: "message",
    from: SessionId.make("sender"),
    to,
    payload: { message }
  })
  return of("x".repeat(bytes - encodeEnvelope(of("")).length))
}

/** A POST on a new connection, by node:http alone. */
const barePost = (port: Port, body: string): Effect.Effect<void> =>
  Effect.async((resume) => {
    const headers = { "content-type": "application/json" }
    http.request({ host: "127.0.0.1", port, method: "POST", path: "/", agent: false, headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        JSON.parse(Buffer.concat(chunks).toString("utf8"))
        resume(Effect.void)
      })
    }).end(body)
  })

const network = Client.layer.pipe(
  Layer.provide(Secrets.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))),
  Layer.provide(Ids.layer)
)

/**
 * One send between two processes, through the client and the listener that sessions have, over a bare POST of the same
 * bytes. The holder of the port has proven itself by its earlier answers, as it has while a team talks.
 */
const wire = (root: string) =>
  Effect.gen(function*() {
    const client = yield* IntercomClient
    const bare = yield* listening("BareServer.ts")
    const ours = yield* listening("OurServer.ts", [root, to])
    const compare = (bytes: number) => {
      const envelope = envelopeOf(bytes)
      return ratio(
        timed(client.send(root, { sessionId: to, port: ours }, envelope)),
        timed(barePost(bare, encodeEnvelope(envelope))),
        { warmUp: 500, counted: 1500 }
      )
    }
    const ratio200 = yield* compare(200)
    const ratio40k = yield* compare(40 * 1024)

    const one = client.send(root, { sessionId: to, port: ours }, envelopeOf(200))
    const burst = Effect.replicateEffect(one, 2000, { concurrency: 16, discard: true })
    yield* burst
    const elapsed = yield* timed(burst)
    return {
      "send.ratio200": round(ratio200, 2),
      "send.ratio40k": round(ratio40k, 2),
      "send.perSecond16": Math.round(2000 / (elapsed / 1000))
    }
  }).pipe(Effect.provide(network))

/** The wire between two processes, and the tool above it. */
export const figures = (folder: string) =>
  Effect.map(Effect.all([wire(folder), tool(folder)]), ([wired, tooled]) => ({ ...wired, ...tooled }))
