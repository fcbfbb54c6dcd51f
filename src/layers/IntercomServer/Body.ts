import * as Effect from "effect/Effect"
import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { maxBodyBytes } from "../../domain/Envelope.ts"

/** Whether the request says itself that its body is over 320 KiB (spec 2.1). */
export const declaresTooMuch = (request: IncomingMessage): boolean =>
  Number(request.headers["content-length"] ?? 0) > maxBodyBytes

/** The whole body, counted while it arrives; `gone` when the connection ends before it. */
export const read = (request: IncomingMessage): Effect.Effect<Buffer, "too_large" | "gone"> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBodyBytes) return end(Effect.fail("too_large"))
      chunks.push(chunk)
    }
    const onEnd = (): void => end(Effect.succeed(Buffer.concat(chunks)))
    const onClose = (): void => end(Effect.fail("gone"))
    const stop = (): void => {
      request.off("data", onData).off("end", onEnd).off("close", onClose)
    }
    const end = (result: Effect.Effect<Buffer, "too_large" | "gone">): void => {
      stop()
      resume(result)
    }
    if (request.destroyed) return resume(Effect.fail("gone"))
    request.on("data", onData).on("end", onEnd).on("close", onClose)
    return Effect.sync(stop)
  })

/** The text of a body; `undefined` for invalid UTF-8, which is refused rather than replaced. */
export const textOf = (body: Buffer): string | undefined => isUtf8(body) ? body.toString("utf8") : undefined
