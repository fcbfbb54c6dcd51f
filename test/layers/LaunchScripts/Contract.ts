import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { LaunchScripts } from "../../../src/services/LaunchScripts.ts"

/** A session's own build of a layer. */
export const session = <E>(
  layer: Layer.Layer<LaunchScripts, E>
): Effect.Effect<LaunchScripts["Type"], E, Scope.Scope> =>
  Effect.map(Layer.build(layer), (services) => Context.get(services, LaunchScripts))

/** What every LaunchScripts does; `read` is the script at a path. */
export const contract = (
  name: string,
  place: Effect.Effect<
    {
      readonly layer: Layer.Layer<LaunchScripts>
      readonly root: string
      readonly other: string
      readonly read: (path: string) => string | undefined
    },
    never,
    Scope.Scope
  >
) => {
  describe(`launch scripts: ${name}`, () => {
    it.scopedLive("a script is where it says, knows its own path, and none replaces another", () =>
      Effect.gen(function*() {
        const { layer, other, read, root } = yield* place
        const scripts = yield* session(layer)
        const paths = yield* Effect.forEach(
          [root, root, other],
          (one, index) => scripts.write(one, (path) => `${index} é '\n${path}`)
        )
        assert.strictEqual(new Set(paths).size, 3)
        paths.forEach((path, index) => {
          assert.match(path, /\/launch\/[A-Za-z0-9-]+\.sh$/)
          assert.strictEqual(read(path), `${index} é '\n${path}`)
        })
      }))

    it.scopedLive("a discarded script is gone, the others stay, and discarding it again is nothing", () =>
      Effect.gen(function*() {
        const { layer, read, root } = yield* place
        const scripts = yield* session(layer)
        const [one, two] = [yield* scripts.write(root, () => "1"), yield* scripts.write(root, () => "2")]
        yield* scripts.discard(one)
        yield* scripts.discard(one)
        assert.isUndefined(read(one))
        assert.strictEqual(read(two), "2")
      }))
  })
}
