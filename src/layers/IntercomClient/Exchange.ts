import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Http from "node:http"
import type { Port } from "../../domain/Primitives.ts"

/** One request to 127.0.0.1. */
export interface Request {
  readonly port: Port
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** From now to the last byte of the answer. */
  readonly deadlineMs: number
  readonly maxHeaderBytes: number
  readonly maxBodyBytes: number
}

/** A whole answer, of whoever holds the port. */
export interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * No whole answer. `refused` and `unreachable`: nothing was sent. `malformed`: it is not HTTP. `connection`: it broke
 * off, and what was sent may have been received; so it may at the `deadline`.
 */
export class ExchangeFailed extends Data.TaggedError("ExchangeFailed")<{
  readonly reason: "refused" | "unreachable" | "connection" | "malformed" | "oversized" | "deadline"
}> {}

const reasonOf = (error: NodeJS.ErrnoException): ExchangeFailed["reason"] => {
  if (error.code === "ECONNREFUSED") return "refused"
  if (error.code === "HPE_HEADER_OVERFLOW") return "oversized"
  if (error.code?.startsWith("HPE_") === true) return "malformed"
  return error.syscall === "connect" ? "unreachable" : "connection"
}

/**
 * Sends one request on a connection of its own and reads the whole answer: no proxy, no redirect, no reuse. The
 * connection is closing when this returns or is interrupted. The deadline is a timer here: as `Effect.timeout` it would
 * cost a third of the whole exchange.
 */
export const exchange = (request: Request): Effect.Effect<Answer, ExchangeFailed> =>
  Effect.async((resume) => {
    let ended = false
    const end = (result: Effect.Effect<Answer, ExchangeFailed>): void => {
      ended = true
      clearTimeout(timer)
      resume(result)
    }
    const fail = (reason: ExchangeFailed["reason"]): void => {
      // Every connection closes in the end: an error for that would be made for each answer.
      if (ended) return
      end(Effect.fail(new ExchangeFailed({ reason })))
      outgoing.destroy()
    }
    const timer = setTimeout(() => fail("deadline"), request.deadlineMs)
    const outgoing = Http.request({
      host: "127.0.0.1",
      port: request.port,
      method: request.method,
      path: request.path,
      // Node leaves port 80 out, and the listener wants its own port named.
      headers: { ...request.headers, host: `127.0.0.1:${request.port}` },
      agent: false,
      maxHeaderSize: request.maxHeaderBytes
    })
    outgoing.on("error", (error: NodeJS.ErrnoException) => fail(reasonOf(error)))
    outgoing.on("close", () => fail("connection"))
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      let size = 0
      incoming.on("error", () => fail("connection"))
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size > request.maxBodyBytes) fail("oversized")
        else chunks.push(chunk)
      })
      incoming.on("end", () => {
        const { headers, statusCode = 0 } = incoming
        end(Effect.succeed({ status: statusCode, headers, body: Buffer.concat(chunks) }))
        // Nothing is kept alive: once all is sent node closes the connection itself, and the caller goes on before it.
        if (!outgoing.writableFinished) outgoing.destroy()
      })
    })
    outgoing.end(request.body)
    return Effect.sync(() => {
      clearTimeout(timer)
      outgoing.destroy()
    })
  })
