import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { isRunning } from "../../support/Processes.ts"
import type { RealTmux } from "../../support/Tmux.ts"
import { child, ended, from, open, stay, team, whatIs } from "./TmuxTeam.ts"

/** Every pane of a server with its first process, the anchor's too. */
const everything = (tmux: RealTmux) =>
  Effect.map(
    tmux.run(["list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_dead}"]),
    (text) => [...new Set(text.trim().split("\n"))].toSorted()
  )
const without = (all: ReadonlyArray<string>, pane: string) => all.filter((one) => !one.startsWith(`${pane} `))

/** A team with a worker that was verified, and a neighbour in the same window. */
const verified = (script?: string) =>
  Effect.gen(function*() {
    const it = yield* team
    const worker = yield* open(it.tmux, script)
    yield* it.tmux.run(["resize-window", "-t", worker.pane, "-x", "80", "-y", "40"])
    yield* it.tmux.run(["split-window", "-d", "-t", worker.pane, "--", "/bin/sh", "-c", stay])
    yield* open(it.tmux)
    const pane = yield* it.verify(yield* it.claim(worker))
    assert.deepStrictEqual(pane, {
      workspaceId: pane.workspaceId,
      paneId: worker.pane,
      terminalId: worker.tty,
      firstPid: worker.pid
    })
    return { ...it, worker, pane, before: yield* everything(it.tmux) }
  })

describe("closing a tmux pane, for real", () => {
  it.scopedLive("closes exactly that pane with what runs in it, once; again it is another one", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux, worker } = yield* verified("sleep 86411 & exec sleep 86412")
      const below = yield* child(tmux, "sleep 86411")
      assert.strictEqual(yield* close(pane), "closed")
      yield* ended(worker.pid)
      yield* ended(below)
      assert.deepStrictEqual(yield* everything(tmux), without(before, worker.pane))
      assert.strictEqual(yield* close(pane), "mismatch")
      assert.deepStrictEqual(yield* everything(tmux), without(before, worker.pane))
    }))

  it.scopedLive("a pane whose process was verified below its first one is compared by the first", () =>
    Effect.gen(function*() {
      const { before, claim, close, tmux, verify, worker } = yield* verified("sleep 86413; exit")
      const below = yield* child(tmux, "sleep 86413")
      const pane = yield* verify(yield* claim(worker, below))
      assert.strictEqual(pane.firstPid, worker.pid)
      assert.strictEqual(yield* close(pane), "closed")
      yield* ended(below)
      assert.deepStrictEqual(yield* everything(tmux), without(before, worker.pane))
    }))

  it.scopedLive("a pane that got another program, even during the last look, is not closed", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux, worker } = yield* verified()
      const respawn = Effect.sync(() =>
        execFileSync("tmux", [
          ...["-S", tmux.socket, "respawn-pane", "-k", "-t", worker.pane, "--"],
          ...["/bin/sh", "-c", stay]
        ])
      )
      assert.strictEqual(yield* close(pane, Effect.asVoid(respawn)), "mismatch")
      const after = yield* whatIs(tmux, worker.pane)
      assert.notStrictEqual(after.pid, worker.pid)
      assert.isTrue(isRunning(after.pid))
      assert.deepStrictEqual(
        yield* everything(tmux),
        [...without(before, worker.pane), `${worker.pane} ${after.pid} 0`].toSorted()
      )
    }))

  it.scopedLive("each of server, first process and terminal alone is enough to be another one", () =>
    Effect.gen(function*() {
      const { before, close, own, pane, tmux } = yield* verified()
      const others = [
        { workspaceId: `tmux:${tmux.serverPid + 1}:1` },
        { firstPid: own.pid },
        { terminalId: own.tty },
        { paneId: own.pane },
        { paneId: "%999" }
      ]
      for (const other of others) assert.strictEqual(yield* close({ ...pane, ...other }), "mismatch")
      assert.deepStrictEqual(yield* everything(tmux), before)
      assert.strictEqual(yield* close(pane), "closed")
    }))

  it.scopedLive("a dead pane that tmux keeps, by its old process and terminal, is not closed", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux, worker } = yield* verified()
      yield* tmux.run(["set-option", "-p", "-t", worker.pane, "remain-on-exit", "on"])
      process.kill(worker.pid, "SIGKILL")
      const dead = `${worker.pane} ${worker.pid} 1`
      yield* eventuallyTrue("the death of the pane", Effect.map(everything(tmux), (all) => all.includes(dead)))
      assert.strictEqual(yield* close(pane), "mismatch")
      assert.deepStrictEqual(yield* everything(tmux), [...without(before, worker.pane), dead].toSorted())
    }))

  it.scopedLive("moved to another window and to another session it is the same pane", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux, worker } = yield* verified()
      yield* tmux.run(["break-pane", "-d", "-s", worker.pane])
      yield* tmux.run(["new-session", "-d", "-s", "elsewhere", "--", "/bin/sh", "-c", stay])
      yield* tmux.run(["move-window", "-s", worker.pane, "-t", "elsewhere:"])
      yield* tmux.run(["link-window", "-d", "-s", worker.pane, "-t", "anchor:88"])
      const there = yield* everything(tmux)
      assert.strictEqual(there.length, before.length + 1)
      assert.strictEqual(yield* close(pane), "closed")
      yield* ended(worker.pid)
      assert.deepStrictEqual(yield* everything(tmux), without(there, worker.pane))
    }))

  it.scopedLive("on another server, under the same ids, nothing is closed", () =>
    Effect.gen(function*() {
      const { before, pane, tmux } = yield* verified()
      const other = yield* team
      const same = yield* open(other.tmux)
      assert.strictEqual(same.pane, pane.paneId)
      const there = yield* everything(other.tmux)
      assert.strictEqual(yield* other.close(pane), "mismatch")
      // Its server's place taken by the other one.
      const misled = from(other.tmux, yield* whatIs(tmux, tmux.variables.TMUX_PANE), tmux.serverPid)
      assert.strictEqual(yield* misled.close(pane), "mismatch")
      assert.deepStrictEqual(yield* everything(tmux), before)
      assert.deepStrictEqual(yield* everything(other.tmux), there)
    }))

  it.scopedLive("tmux has closed it though its program ignores that: whether that is gone is seen by looking", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux, worker } = yield* verified("trap '' HUP; exec sleep 86414")
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(worker.pid, "SIGKILL")))
      yield* child(tmux, "sleep 86414")
      assert.strictEqual(yield* close(pane), "closed")
      assert.deepStrictEqual(yield* everything(tmux), without(before, worker.pane))
      assert.isTrue(isRunning(worker.pid))
    }))

  it.scopedLive("after a last look that fails everything is as it was", () =>
    Effect.gen(function*() {
      const { before, close, pane, tmux } = yield* verified()
      assert.strictEqual(yield* Effect.flip(close(pane, Effect.fail("late"))), "late")
      assert.deepStrictEqual(yield* everything(tmux), before)
    }))

  it.scopedLive("of a server that hangs nothing is known after 2 s", () =>
    Effect.gen(function*() {
      const { close, pane, tmux } = yield* verified()
      yield* Effect.acquireRelease(
        Effect.sync(() => process.kill(tmux.serverPid, "SIGSTOP")),
        () => Effect.sync(() => process.kill(tmux.serverPid, "SIGCONT"))
      )
      const start = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* close(pane), "unknown")
      // Timers may be a millisecond early.
      assert.isAtLeast((yield* Clock.currentTimeMillis) - start, 1_990)
    }))
})
