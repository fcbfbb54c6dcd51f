import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { SessionId } from "../../../src/domain/Primitives.ts"
import type { SavedReport } from "../../../src/domain/Report.ts"
import { ReportStore } from "../../../src/services/ReportStore.ts"

/** A report of a session. */
export const report = (
  sessionId: string,
  changed: Partial<Pick<SavedReport, "status" | "summary">> = {}
): SavedReport => ({
  version: 1,
  sessionId: SessionId.make(sessionId),
  status: "ready_for_review",
  summary: "Done.",
  updatedAt: "2025-11-02T10:15:30.123Z",
  ...changed
})

/** A session's own build of a layer. */
export const session = (layer: Layer.Layer<ReportStore>): Effect.Effect<ReportStore["Type"], never, Scope.Scope> =>
  Effect.map(Layer.build(layer), (services) => Context.get(services, ReportStore))

const nothing = { reports: new Map<string, SavedReport>(), unread: new Set<string>() }

/** What every ReportStore does; `place` has two roots with a team. */
export const contract = (
  name: string,
  place: Effect.Effect<
    { readonly layer: Layer.Layer<ReportStore>; readonly root: string; readonly other: string },
    never,
    Scope.Scope
  >
) => {
  describe(`reports: ${name}`, () => {
    it.scopedLive("another session reads what was saved last, of the sessions it asks for", () =>
      Effect.gen(function*() {
        const { layer, other, root } = yield* place
        const [writer, reader] = [yield* session(layer), yield* session(layer)]
        assert.deepStrictEqual(yield* reader.read(root, ["a"]), nothing)
        yield* writer.save(root, report("a", { status: "blocked" }))
        yield* writer.save(root, report("a"))
        yield* writer.save(root, report("漢/../b"))
        yield* writer.save(root, report("c"))
        assert.deepStrictEqual(
          yield* reader.read(root, ["a", "漢/../b", "unknown"]),
          { reports: new Map([["a", report("a")], ["漢/../b", report("漢/../b")]]), unread: new Set<string>() }
        )
        assert.deepStrictEqual(yield* reader.read(other, ["a"]), nothing)
      }))

    it.scopedLive("a cleared report is no report, and can come again", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const store = yield* session(layer)
        yield* store.save(root, report("a"))
        yield* store.save(root, report("a", { status: "clear", summary: "" }))
        assert.deepStrictEqual(yield* store.read(root, ["a"]), nothing)
        yield* store.save(root, report("a", { status: "needs_decision" }))
        assert.strictEqual((yield* store.read(root, ["a"])).reports.get("a")?.status, "needs_decision")
      }))

    it.scopedLive("keeps newline and tab, no other control or bidi-override character", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const store = yield* session(layer)
        yield* store.save(root, report("a", { summary: "a\tb\r\nc\u001b[0m\u202e漢" }))
        assert.strictEqual((yield* store.read(root, ["a"])).reports.get("a")?.summary, "a\tb\nc[0m漢")
        const failed = yield* Effect.flip(store.save(root, report("a", { summary: "\u0001" })))
        assert.strictEqual(failed.message, "The report could not be saved: its summary has no readable text.")
      }))

    it.scopedLive("takes the longest summary of any script", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const store = yield* session(layer)
        for (const char of ["漢", "\"", "\n.", "🙂", "\ud800"]) {
          yield* store.save(root, report("\u0001".repeat(255) + "x", { summary: char.repeat(2000 / char.length) }))
        }
        assert.strictEqual((yield* store.read(root, ["\u0001".repeat(255) + "x"])).reports.size, 1)
      }))
  })
}
