import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { join } from "node:path"
import type { CloseAnswer, VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import type { Trouble } from "../../support/herdr/Faults.ts"
import { alone, type Herdr, type HerdrPane } from "../../support/herdr/Herdr.ts"
import { isRunning, published } from "../../support/Processes.ts"
import { at } from "./HerdrSession.ts"

/** Publishes the pid of the shell and of what it started, and stays. */
const program = (name: string, clings = "") =>
  `${clings} sleep 1000 & echo $$ $! > "$HOME/${name}.tmp"; mv "$HOME/${name}.tmp" "$HOME/${name}"; wait; wait; wait`
const pidsOf = (herdr: { readonly home: string }, name: string) =>
  Effect.map(published(join(herdr.home, name)), (text) => text.trim().split(" ").map(Number))

/** A session, a worker and a neighbour in their panes; `close` is that session's. */
const workspace = (clings = "") =>
  Effect.gen(function*() {
    const herdr = yield* alone
    const own = yield* herdr.workspace(herdr.home, ["/bin/sh", "-c", program("own")])
    const worker = yield* herdr.tab(own.workspace, herdr.home, ["/bin/sh", "-c", program("worker", clings)])
    yield* herdr.tab(own.workspace, herdr.home, ["/bin/sh", "-c", program("neighbour")])
    const pane: VerifiedPane = {
      workspaceId: worker.workspace,
      paneId: worker.pane,
      terminalId: worker.terminal,
      firstPid: undefined
    }
    const close = <E = never>(last: Effect.Effect<void, E> = Effect.void) =>
      Effect.provide(Effect.flatMap(Multiplexers, (all) => all.of("herdr").close(pane, last)), at(herdr, own))
    const others = [...(yield* pidsOf(herdr, "own")), ...(yield* pidsOf(herdr, "neighbour"))]
    const pids = yield* pidsOf(herdr, "worker")
    return { herdr, own, worker, pane, close, pids, others }
  })

/** The panes that are there. */
const panes = (herdr: Herdr) => Effect.map(herdr.tmux.panes, (rows) => rows.map((row) => row.pane).toSorted())
const closes = (herdr: Herdr) =>
  Effect.map(herdr.calls, (calls) => calls.filter((call) => call.command === "pane close"))
const allGone = (pids: ReadonlyArray<number>) =>
  eventuallyTrue(`the end of ${pids.join(" ")}`, Effect.sync(() => !pids.some(isRunning)))

/** What can befall the one call, what is known then, and whether the pane is there all the same. */
const troubles: ReadonlyArray<readonly [Trouble, CloseAnswer, stays: boolean]> = [
  [{ does: "exit", when: "before", code: 1, text: "Connection reset by peer" }, "unknown", true],
  [{ does: "exit", when: "before", code: 2, text: "error: unrecognized subcommand" }, "unknown", true],
  [{ does: "refuse", when: "before", code: "confirmation_required" }, "unknown", true],
  [{ does: "refuse", when: "before", code: "pane_not_found" }, "unknown", true],
  [{ does: "refuse", when: "before", code: "server_not_running" }, "unknown", true],
  [{ does: "exit", when: "after", code: 1, text: "Connection reset by peer" }, "unknown", false],
  [{ does: "refuse", when: "after", code: "timeout" }, "unknown", false],
  [{ does: "print", what: "garbage" }, "unknown", false],
  [{ does: "print", what: "nothing" }, "unknown", false],
  [{ does: "print", what: "truncated" }, "unknown", false],
  [{ does: "print", what: "oversized" }, "unknown", false],
  [{ does: "shape", as: "extended" }, "closed", false],
  [{ does: "shape", as: "minimal" }, "closed", false]
]

describe("closing a pane in Herdr's stand-in, for real", () => {
  it.scopedLive("closes exactly the pane that was verified, with what runs in it, by one call", () =>
    Effect.gen(function*() {
      const { herdr, others, own, pids: [pid = 0, below = 0], worker } = yield* workspace()
      const before = yield* panes(herdr)
      const answer = yield* Effect.gen(function*() {
        const multiplexer = (yield* Multiplexers).of("herdr")
        assert.isTrue(multiplexer.canClose)
        const processStart = (yield* (yield* ProcessIdentity).facts(pid)).startTicks
        const pane = yield* multiplexer.verify({
          workspaceId: worker.workspace,
          paneId: worker.pane,
          terminalId: worker.terminal,
          sessionId: SessionId.make("w-1"),
          sessionFile: join(herdr.home, "s.jsonl"),
          pid,
          processStart
        }, SessionId.make("c-1"))
        return yield* multiplexer.close(pane, Effect.void)
      }).pipe(Effect.provide(at(herdr, own)))
      assert.strictEqual(answer, "closed")
      yield* allGone([pid, below])
      assert.deepStrictEqual(yield* panes(herdr), before.filter((one) => one !== worker.tmux))
      assert.isTrue(others.every(isRunning))
      assert.deepStrictEqual((yield* closes(herdr)).map((call) => call.args), [["pane", "close", worker.pane]])
    }))

  it.scopedLive("what ignores SIGHUP and SIGTERM is gone within the deadline; again nothing is known", () =>
    Effect.gen(function*() {
      const { close, herdr, others, pids, worker } = yield* workspace("trap '' HUP TERM;")
      const before = yield* panes(herdr)
      assert.strictEqual(yield* close(), "closed")
      yield* allGone(pids)
      const after = before.filter((one) => one !== worker.tmux)
      assert.deepStrictEqual(yield* panes(herdr), after)
      assert.strictEqual(yield* close(), "unknown")
      assert.deepStrictEqual(yield* panes(herdr), after)
      assert.isTrue(others.every(isRunning))
    }))

  for (const [trouble, answer, stays] of troubles) {
    it.scopedLive(`is ${answer}, and tried once, whatever befalls it: ${JSON.stringify(trouble)}`, () =>
      Effect.gen(function*() {
        const { close, herdr, others, pids, worker } = yield* workspace()
        const before = yield* panes(herdr)
        yield* herdr.faults({ ...trouble, command: "pane close" })
        assert.strictEqual(yield* close(), answer)
        if (!stays) yield* allGone(pids)
        assert.deepStrictEqual(yield* panes(herdr), before.filter((one) => stays || one !== worker.tmux))
        assert.isTrue([...others, ...(stays ? pids : [])].every(isRunning))
        assert.lengthOf(yield* closes(herdr), 1)
      }))
  }

  for (const when of ["before", "after"] as const) {
    it.scopedLive(`a herdr that hangs ${when} it did it is unknown after 2 s, and is gone`, () =>
      Effect.gen(function*() {
        const { close, herdr, pids } = yield* workspace()
        yield* herdr.faults({ does: "hang", when, command: "pane close" })
        const start = yield* Clock.currentTimeMillis
        assert.strictEqual(yield* close(), "unknown")
        // Timers may be a millisecond early.
        assert.isAtLeast((yield* Clock.currentTimeMillis) - start, 1_990)
        if (when === "after") yield* allGone(pids)
        else assert.isTrue(pids.every(isRunning))
        const [call, ...more] = yield* closes(herdr)
        assert.lengthOf(more, 0)
        assert.isFalse(isRunning(call?.pid ?? process.pid))
      }))
  }

  it.scopedLive("without a herdr, and after a last look that fails, everything is as it was", () =>
    Effect.gen(function*() {
      const { close, herdr, others, pids } = yield* workspace()
      const before = yield* panes(herdr)
      assert.strictEqual(yield* Effect.flip(close(Effect.fail("late"))), "late")
      fs.renameSync(join(herdr.bin, "herdr"), join(herdr.bin, "elsewhere"))
      assert.strictEqual(yield* close(), "not_started")
      assert.deepStrictEqual(yield* panes(herdr), before)
      assert.deepStrictEqual(yield* closes(herdr), [])
      assert.isTrue([...others, ...pids].every(isRunning))
    }))

  it.scopedLive("a pane that went to another workspace has another id: the old one closes nothing", () =>
    Effect.gen(function*() {
      const { close, herdr, others, pids, worker } = yield* workspace()
      const elsewhere: HerdrPane = yield* herdr.workspace(herdr.home, ["/bin/sh", "-c", program("elsewhere")])
      yield* herdr.move(worker, elsewhere.workspace)
      const before = yield* panes(herdr)
      assert.strictEqual(yield* close(), "unknown")
      assert.deepStrictEqual(yield* panes(herdr), before)
      assert.isTrue([...others, ...pids].every(isRunning))
    }))
})
