import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as path from "node:path"
import { StateUnusable } from "../../domain/ConfigErrors.ts"
import { Secrets, type SigningKey } from "../../services/Secrets.ts"
import { StateDir } from "../../services/StateDir.ts"
import { orAbsent } from "../Files.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { publishNew } from "../Writing.ts"

/** A secret is exactly this long (spec 2.2). */
export const secretBytes = 32

/** Refuses a secret of another length. */
export const checkLength = (file: string, secret: Uint8Array): Effect.Effect<void, StateUnusable> =>
  secret.length === secretBytes ? Effect.void : new StateUnusable({
    path: file,
    detail: `it is not exactly ${secretBytes} bytes long`,
    mend: "Close this team's sessions, remove it, and start again: a new one is made."
  })

/** A key over a secret; comparing takes the same time wherever the macs differ. */
const signingKey = (secret: Redacted.Redacted<Uint8Array>): SigningKey => {
  const mac = (text: string): string =>
    createHmac("sha256", Redacted.value(secret)).update(text, "utf8").digest("base64url")
  return {
    mac,
    verify: (text, given) => {
      const [expected, actual] = [Buffer.from(mac(text)), Buffer.from(given)]
      return expected.length === actual.length && timingSafeEqual(expected, actual)
    }
  }
}

/** Keys by the file that `find` has the secret of; a key that was made once is kept. */
export const keysBy = (
  find: (root: string) => Effect.Effect<{ readonly file: string; readonly bytes: Uint8Array }, StateUnusable>
): Secrets["Type"] => {
  const keys = new Map<string, SigningKey>()
  const open = Effect.fn("Secrets.open")(function*(root: string) {
    const { bytes, file } = yield* find(root)
    yield* checkLength(file, bytes)
    const made = signingKey(Redacted.make(bytes))
    keys.set(root, made)
    return made
  })
  return {
    // Each send asks; a known key costs no span.
    key: (root) =>
      Effect.suspend(() => {
        const known = keys.get(root)
        return known === undefined ? open(root) : Effect.succeed(known)
      })
  }
}

const make = Effect.gen(function*() {
  const state = yield* StateDir

  /** The secret on disk: the first one published there, whoever published it. */
  const secretIn = Effect.fn("Secrets.secretIn")(function*(file: string) {
    const found = yield* orAbsent(readPrivate(file, secretBytes))
    if (Option.isSome(found)) return found.value.bytes
    yield* publishNew(file, randomBytes(secretBytes), 0o600)
    return (yield* readPrivate(file, secretBytes)).bytes
  }, Effect.mapError(unusable))

  return keysBy((root) =>
    Effect.gen(function*() {
      const file = path.join(yield* state.of(root), "secret")
      return { file, bytes: yield* secretIn(file) }
    })
  )
})

/** Secrets in the state directory. */
export const layer: Layer.Layer<Secrets, never, StateDir> = Layer.effect(Secrets, make)
