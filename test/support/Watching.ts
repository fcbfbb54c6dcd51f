import * as Effect from "effect/Effect"
import { channel } from "node:diagnostics_channel"
import type { IncomingMessage, ServerResponse } from "node:http"

/** A request that an HTTP server of this process got. */
export interface Seen {
  /** The server's. */
  readonly port: number | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const isSeen = (message: unknown): message is Omit<Seen, "port"> =>
  typeof message === "object" && message !== null && "request" in message && "response" in message

/** Every HTTP request that a server of this process gets while the scope is open, whoever sent it. */
export const watching = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const seen: Array<Seen> = []
      const note = (message: unknown): void => {
        if (isSeen(message)) seen.push({ ...message, port: message.request.socket.localPort })
      }
      channel("http.server.request.start").subscribe(note)
      return { seen, note }
    }),
    ({ note }) => Effect.sync(() => channel("http.server.request.start").unsubscribe(note))
  ),
  ({ seen }): ReadonlyArray<Seen> => seen
)
