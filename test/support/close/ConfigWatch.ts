import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { decodeConfig } from "../../../src/domain/TeamConfig.ts"
import { findings } from "../config-witness/Public.ts"

/** Asserts that a text of the team file is valid and says nothing of a pane, a tty, a process or a saved session. */
export const assertPublic = (text: string): void => {
  const decoded = decodeConfig(text)
  assert.isTrue(Either.isRight(decoded), text)
  assert.deepStrictEqual(findings(text), [])
}

/** Every text that the file has had from now on, as far as looks each 5 ms see it; asserted when the scope ends. */
export const watch = (file: string): Effect.Effect<ReadonlyArray<string>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const texts: Array<string> = []
    const look = Effect.sync(() => {
      const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined
      if (text !== undefined && text !== texts.at(-1)) texts.push(text)
    })
    yield* Effect.addFinalizer(() => Effect.zipRight(look, Effect.sync(() => texts.forEach(assertPublic))))
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(look, Effect.sleep("5 millis"))))
    return texts
  })
