import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { OwnedMonitor } from "../../../src/domain/OwnedMonitor.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { MonitorRecord } from "../../../src/services/MonitorRecord.ts"

/** A session's own build of a layer. */
export const recordsOf = (
  layer: Layer.Layer<MonitorRecord>
): Effect.Effect<MonitorRecord["Type"], never, Scope.Scope> =>
  Effect.map(Layer.build(layer), (services) => Context.get(services, MonitorRecord))

export const begun = (sessionId: string): OwnedMonitor => ({
  version: 1,
  sessionId: SessionId.make(sessionId),
  workspace: "w1",
  caller: "w1:p1",
  stage: "creating"
})

/** What every MonitorRecord does; `place` has two roots. */
export const contract = (
  name: string,
  place: Effect.Effect<
    { readonly layer: Layer.Layer<MonitorRecord>; readonly root: string; readonly other: string },
    never,
    Scope.Scope
  >
) => {
  describe(`monitor records: ${name}`, () => {
    it.scopedLive("are none at first; another build reads what was written last, by root and session", () =>
      Effect.gen(function*() {
        const { layer, other, root } = yield* place
        const [one, two] = [yield* recordsOf(layer), yield* recordsOf(layer)]
        const recorded = (at: string, id: string) =>
          Effect.map(two.read(at, SessionId.make(id)), ({ record }) => Option.getOrUndefined(record))
        const ids = ["ada", "Ada", "漢/../b", "\u0001".repeat(255) + "x", "__proto__"]
        for (const id of ids) {
          assert.isUndefined(yield* recorded(root, id))
          yield* one.write(root, begun(id))
          assert.deepStrictEqual(yield* recorded(root, id), begun(id))
          yield* one.write(root, { ...begun(id), pane: `herdr s:w1 w1:p9 ${id.length}`, stage: "submitted" })
        }
        for (const id of ids) {
          assert.deepStrictEqual(yield* recorded(root, id), {
            ...begun(id),
            pane: `herdr s:w1 w1:p9 ${id.length}`,
            stage: "submitted"
          })
          assert.isUndefined(yield* recorded(other, id))
        }
        const files = yield* Effect.forEach(ids, (id) => one.read(root, SessionId.make(id)))
        assert.strictEqual(new Set(files.map(({ file }) => file)).size, ids.length)
      }))
  })
}
