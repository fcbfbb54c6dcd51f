import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import * as Net from "node:net"
import { canonicalRequest, formatAuthorization } from "../../src/domain/Signature.ts"
import type { SigningKey } from "../../src/services/Secrets.ts"

/** What a socket got until it was closed. `status` is 0 without an answer; `reset` when it ended by an error. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly reset: boolean
}

const parse = (text: string, reset: boolean): RawAnswer => {
  const [head = "", ...rest] = text.split("\r\n\r\n")
  const [first = "", ...lines] = head.split("\r\n")
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  return { status: Number(first.split(" ")[1] ?? 0), headers, body: rest.join("\r\n\r\n"), reset }
}

/** An open connection; destroyed with the scope. */
export const connect = (port: number) =>
  Effect.acquireRelease(
    Effect.async<Net.Socket, Error>((resume) => {
      const socket = Net.connect({ host: "127.0.0.1", port })
      socket.once("error", (error) => resume(Effect.fail(error))).once("connect", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Resolves when the other side has closed the connection, with what it said. */
export const untilClosed = (socket: Net.Socket): Effect.Effect<RawAnswer> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let reset = false
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", () => {
      reset = true
    })
    socket.on("close", () => resume(Effect.sync(() => parse(Buffer.concat(chunks).toString("utf8"), reset))))
  })

/** Writes everything at once on a new connection and reads until it is closed. */
export const raw = (port: number, ...pieces: ReadonlyArray<string | Buffer>): Effect.Effect<RawAnswer, Error> =>
  Effect.scoped(Effect.gen(function*() {
    const socket = yield* connect(port)
    for (const piece of pieces) socket.write(piece)
    return yield* untilClosed(socket)
  }))

export const hash = (body: string | Buffer): string => createHash("sha256").update(body).digest("base64url")

/** What a request says it is; what it is signed as when that differs. */
export interface Signing {
  readonly method?: string
  readonly path?: string
  readonly body?: string | Buffer
  readonly nonce?: string
  /** Added to the clock, ms. */
  readonly skew?: number
}

/** The `authorization` of a request. */
export const authorize = (
  key: SigningKey,
  { body = "", method = "POST", nonce, path = "/intercom", skew = 0 }: Signing
) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const claim = { ts: now + skew, nonce: nonce ?? randomBytes(16).toString("base64url"), body: hash(body) }
    return formatAuthorization({ ...claim, mac: key.mac(canonicalRequest({ ...claim, method, path })) })
  })

/** The text of a request's head. An absent value leaves its header out. */
export const head = (
  line: string,
  headers: Readonly<Record<string, string | number | undefined>>
): string =>
  `${line} HTTP/1.1\r\n` +
  Object.entries(headers).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}\r\n`)
    .join("") +
  "\r\n"
