import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Http from "node:http"
import { type AddressInfo, Socket } from "node:net"
import { Port } from "../../domain/Primitives.ts"
import { IntercomServer, ListenFailed, type Receiver } from "../../services/IntercomServer.ts"
import { foreign, notFound, notHttp, rawAnswer, refusal } from "./Answer.ts"
import { isForeign } from "./Authenticate.ts"
import { type Limits, limits as binding } from "./Limits.ts"
import * as Nonces from "./Nonces.ts"
import { serve } from "./Serve.ts"

// node:http directly: @effect/platform-node's server adds 113 KB and 25 ms to every start, answers on connections it
// neither drains nor closes at once, and takes upgrades with a `ws` that the bundle does not have.

const createServer = (limits: Limits): Http.Server => {
  const server = Http.createServer({
    insecureHTTPParser: false,
    // A missing Host is a foreign Host: our 403, not node's 400.
    requireHostHeader: false,
    // Node would take the first of two Hosts, types or signatures and hide the other; joined, neither form is valid.
    joinDuplicateHeaders: true,
    headersTimeout: limits.arrivalMs,
    requestTimeout: limits.arrivalMs,
    connectionsCheckingInterval: limits.arrivalMs / 10
  })
  server.maxConnections = limits.maxConnections
  server.maxRequestsPerSocket = 1
  return server
}

const listenOn = (server: Http.Server, port: number): Effect.Effect<Port, NodeJS.ErrnoException> =>
  Effect.async((resume) => {
    const onError = (error: Error): void => {
      server.off("listening", onListening)
      resume(Effect.fail(error))
    }
    const onListening = (): void => {
      server.off("error", onError)
      resume(Effect.sync(() => portOf(server.address())))
    }
    server.once("error", onError).once("listening", onListening).listen({ host: "127.0.0.1", port, exclusive: true })
  })

const portOf = (address: AddressInfo | string | null): Port =>
  Port.make(typeof address === "object" && address !== null ? address.port : 0)

/** Frees the port and drops every connection in this very step; waits only for node to say so. */
const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.async((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

const tooSlow = rawAnswer(refusal(408, "the request arrived too slowly; nothing was done"))

/** A request that node hands over without a response of its own. */
const tunnelAnswer = (request: Http.IncomingMessage, port: number | undefined): string =>
  rawAnswer(isForeign(request.headers, port) ? foreign : notFound)

/** Exported for tests, which shorten the limits and have nonces of their own. */
export const makeWith = (limits: Limits, nonces = Nonces.make(limits.maxNonces)) =>
  Effect.sync(() => {
    const listen = Effect.fn("IntercomServer.listen")(function*(saved: Option.Option<Port>, receiver: Receiver) {
      const run = yield* FiberSet.makeRuntime<never>()
      const server = yield* Effect.acquireRelease(Effect.sync(() => createServer(limits)), close)
      const begun = new WeakMap<Socket, { request: Http.IncomingMessage; response: Http.ServerResponse }>()

      // Nothing can be done about a connection that could not be accepted; without a listener it would end the process.
      server.on("error", () => undefined)
      const onRequest = (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
        begun.set(request.socket, { request, response })
        // A peer that goes away while it is answered is no error of ours.
        request.on("error", () => undefined)
        response.on("error", () => undefined)
        run(serve(request, response, receiver, nonces, limits))
      }
      server.on("request", onRequest)
      // An expectation that nobody knows is ignored: node would answer 417, without a sentence, and hold the connection.
      server.on("checkExpectation", onRequest)
      server.on("connect", (request, socket) => {
        socket.on("error", () => undefined)
        socket.end(tunnelAnswer(request, request.socket.localPort), () => socket.destroy())
      })
      server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
        const served = socket instanceof Socket ? begun.get(socket) : undefined
        if (served?.response.headersSent === true) served.request.socket.destroySoon()
        else if (!socket.writable || error.code === "ECONNRESET") socket.destroy()
        // Garbage behind a whole request: that one is decided about, and only its own answer is true.
        else if (served?.request.complete === true) return
        else {socket.end(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? tooSlow : rawAnswer(notHttp), () =>
            socket.destroy())}
      })

      const bound = yield* Option.match(saved, {
        onNone: () => listenOn(server, 0),
        onSome: (wanted) =>
          Effect.catchIf(listenOn(server, wanted), (error) => error.code === "EADDRINUSE", () => listenOn(server, 0))
      }).pipe(Effect.mapError((error) => new ListenFailed({ detail: error.code ?? error.message })))
      return bound
    })

    return { listen }
  })

// Of the process, not of one session: what one took must not be replayed to the next one that `/reload` or `/new` starts
// on this port. The core is `require`d once in a process (docs/architecture.md), so all of them have this store.
const ofThisProcess = Nonces.make(binding.maxNonces)

/** HTTP/1.1 on 127.0.0.1 (spec 2.1, 2.2). */
export const layer: Layer.Layer<IntercomServer> = Layer.effect(IntercomServer, makeWith(binding, ofThisProcess))
