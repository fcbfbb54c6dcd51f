import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import {
  addAttempt,
  type Attempt,
  attemptOf,
  emptyLedger,
  endAttempt,
  type Ledger,
  tracePane
} from "../../../src/domain/Ledger.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { ProcessLedger } from "../../../src/services/ProcessLedger.ts"

/** A session's own build of a layer. */
export const ledgerOf = (
  layer: Layer.Layer<ProcessLedger>
): Effect.Effect<ProcessLedger["Type"], never, Scope.Scope> =>
  Effect.map(Layer.build(layer), (services) => Context.get(services, ProcessLedger))

export const attempt = (pane?: string): Attempt => ({
  at: "2025-11-02T10:15:30.123Z",
  ...(pane === undefined ? {} : { pane })
})

/** Puts an attempt where there is none. */
export const put = (sessionId: string, pane?: string) => addAttempt(SessionId.make(sessionId), attempt(pane))

const process = { pid: 7, startTicks: "12", bootId: "b", machineId: "", pidNamespace: "pid:[1]" }

/** What every ProcessLedger does; `place` has two roots. */
export const contract = (
  name: string,
  place: Effect.Effect<
    { readonly layer: Layer.Layer<ProcessLedger>; readonly root: string; readonly other: string },
    never,
    Scope.Scope
  >
) => {
  describe(`ledger: ${name}`, () => {
    it.scopedLive("is empty at first, and another session reads what was changed last, by root", () =>
      Effect.gen(function*() {
        const { layer, other, root } = yield* place
        const [one, two] = [yield* ledgerOf(layer), yield* ledgerOf(layer)]
        assert.deepStrictEqual(yield* one.read(root), emptyLedger)
        const jobs: Ledger["jobs"] = { "job-1": process, "job-2": { pid: 9 } }
        const written = yield* one.change(root, (ledger) => ({ ...put("a", "tmux tmux:1:2 %3")(ledger), jobs }))
        assert.deepStrictEqual(attemptOf(written, SessionId.make("a")), attempt("tmux tmux:1:2 %3"))
        assert.deepStrictEqual(written.jobs, jobs)
        assert.deepStrictEqual(yield* two.read(root), written)
        assert.deepStrictEqual(yield* two.read(other), emptyLedger)
        const after = yield* two.change(root, put("b"))
        assert.deepStrictEqual(yield* one.read(root), after)
        assert.sameMembers(Object.keys(after.attempts), ["a", "b"])
      }))

    it.scopedLive("concurrent changes are all made, each on what the one before left", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const ledger = yield* ledgerOf(layer)
        const ids = Array.from({ length: 20 }, (_, index) => `s-${index}`)
        yield* Effect.forEach(ids, (id) => ledger.change(root, put(id)), { concurrency: "unbounded" })
        assert.sameMembers(Object.keys((yield* ledger.read(root)).attempts), ids)
      }))

    it.scopedLive("keeps sessions of any id", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const ledger = yield* ledgerOf(layer)
        for (const id of ["constructor", "漢/../b", "\u0001".repeat(255) + "x", "a \"b\""]) {
          const sessionId = SessionId.make(id)
          assert.isUndefined(attemptOf(yield* ledger.read(root), sessionId), id)
          yield* ledger.change(root, put(id, "tmux w p"))
          assert.deepStrictEqual(attemptOf(yield* ledger.read(root), sessionId), attempt("tmux w p"), id)
        }
      }))

    it.scopedLive("only the attempt that is meant gets a pane or ends; one that is open is not begun again", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const ledger = yield* ledgerOf(layer)
        const a = SessionId.make("a")
        const { at } = attempt()
        const later = "2025-11-02T10:15:30.124Z"
        const step = (change: (before: Ledger) => Ledger) =>
          Effect.map(ledger.change(root, change), (after) => attemptOf(after, a))
        assert.deepStrictEqual(yield* step(tracePane(a, at, "tmux w p")), undefined)
        assert.deepStrictEqual(yield* step(put("a")), attempt())
        assert.deepStrictEqual(yield* step(addAttempt(a, { at: later })), attempt())
        // An object's text cannot carry it: said to be open it would not be on the disk.
        const proto = SessionId.make("__proto__")
        assert.isUndefined(attemptOf(yield* ledger.change(root, addAttempt(proto, { at: later })), proto))
        assert.deepStrictEqual(yield* step(tracePane(a, later, "tmux w p")), attempt())
        assert.deepStrictEqual(yield* step(tracePane(a, at, "tmux w p")), attempt("tmux w p"))
        assert.deepStrictEqual(yield* step(endAttempt(a, later)), attempt("tmux w p"))
        assert.deepStrictEqual(yield* step(endAttempt(a, at)), undefined)
        assert.deepStrictEqual(yield* ledger.read(root), emptyLedger)
      }))

    it.scopedLive("at most 256 attempts are open", () =>
      Effect.gen(function*() {
        const { layer, root } = yield* place
        const ledger = yield* ledgerOf(layer)
        const ids = Array.from({ length: 257 }, (_, index) => `s-${index}`)
        const full = yield* ledger.change(root, (before) => ids.reduce((one, id) => put(id)(one), before))
        assert.sameMembers(Object.keys(full.attempts), ids.slice(0, 256))
        assert.deepStrictEqual(yield* ledger.read(root), full)
      }))
  })
}
