import * as Effect from "effect/Effect"
import * as Http from "node:http"
import * as Net from "node:net"
import { Port } from "../../src/domain/Primitives.ts"

const portOf = (server: Net.Server): Port => {
  const address = server.address()
  return Port.make(typeof address === "object" && address !== null ? address.port : 0)
}

const open = (server: Net.Server, drop: () => void) =>
  Effect.acquireRelease(
    Effect.async<Port>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.sync(() => portOf(server))))
    }),
    () =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        drop()
      })
  )

/** A stranger's HTTP server on a port of its own, and the bodies it was sent. */
export const http = (answer: Http.RequestListener) =>
  Effect.gen(function*() {
    const bodies: Array<string> = []
    const server = Http.createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
        if (request.method === "POST") bodies.push(Buffer.concat(chunks).toString("utf8"))
        answer(request, response)
      })
    })
    return { port: yield* open(server, () => server.closeAllConnections()), bodies }
  })

/** A stranger that speaks no HTTP of node's: whatever `talk` writes. `closed` counts connections the other side ended. */
export const tcp = (talk: (socket: Net.Socket) => void) =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    const server = Net.createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket)).resume()
      talk(socket)
    })
    const port = yield* open(server, () => {
      for (const socket of sockets) socket.destroy()
    })
    return { port, sockets }
  })
