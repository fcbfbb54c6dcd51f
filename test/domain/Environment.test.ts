import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { AllowUnauthenticated } from "../../src/domain/Environment.ts"

describe("PI_INTERCOM_ALLOW_UNAUTHENTICATED", () => {
  it.effect.each([["1", true], ["0", false], ["true", false], ["", false], [undefined, false]] as const)(
    "%j allows: %j",
    ([value, allows]) =>
      Effect.gen(function*() {
        const set = new Map(value === undefined ? [] : [["PI_INTERCOM_ALLOW_UNAUTHENTICATED", value]])
        const read = Effect.withConfigProvider(AllowUnauthenticated, ConfigProvider.fromMap(set))
        assert.strictEqual(yield* read, allows)
      })
  )
})
