import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Node from "../../../src/layers/CommandRunner/Node.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import * as StateMemory from "../../support/StateMemory.ts"
import { ended, from, machine, open, startOf, stay, team, whatIs } from "./TmuxTeam.ts"

/** Whether a trace is gone for a session outside tmux. */
const elsewhereGone = (trace: string) =>
  Effect.flatMap(Multiplexers, (all) => all.gone(trace)).pipe(
    Effect.provide(
      Live.layer.pipe(
        Layer.provide([machine, Node.layer, Platform.layer, StateMemory.layer, IdsTest.layer]),
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
      )
    )
  )

describe("whether a tmux pane is gone, for real", () => {
  it.scopedLive("kept by tmux after its process ended it is dead, not gone; killed it is gone", () =>
    Effect.gen(function*() {
      const { claim, gone, launch, refusal, tmux } = yield* team
      const launched = yield* launch
      const worker = yield* whatIs(tmux, launched.pane)
      const identity = yield* claim(worker)
      yield* tmux.run(["set-option", "-p", "-t", worker.pane, "remain-on-exit", "on"])
      process.kill(worker.pid, "SIGKILL")
      const isDead = Effect.map(
        tmux.run(["display-message", "-p", "-t", worker.pane, "#{pane_dead}"]),
        (text) => text === "1\n"
      )
      yield* eventuallyTrue("the death of the pane", isDead)
      assert.include(["its process is not there any more", "its process has ended"], yield* refusal(identity))
      const other = yield* open(tmux)
      // A live process in its place would not help: the pane itself is dead, even where its terminal was given out again.
      assert.strictEqual(
        yield* refusal({ ...(yield* claim(other)), paneId: worker.pane, terminalId: worker.tty }),
        "its program has ended"
      )
      assert.isFalse(yield* gone(launched.trace))
      yield* tmux.run(["kill-pane", "-t", worker.pane])
      assert.isTrue(yield* gone(launched.trace))
      const second = yield* launch
      assert.isFalse(yield* gone(second.trace))
      const alive = yield* whatIs(tmux, second.pane)
      const claimed = yield* claim(alive)
      yield* tmux.run(["kill-pane", "-t", second.pane])
      assert.isTrue(yield* gone(second.trace))
      yield* ended(alive.pid)
      assert.include(["its process is not there any more", "its process has ended"], yield* refusal(claimed))
      assert.strictEqual(
        yield* refusal({ ...(yield* claim(other)), paneId: second.pane }),
        "tmux has no such pane any more"
      )
    }))

  it.scopedLive("after its server ended its panes are gone; those of the next one are others, under the same ids", () =>
    Effect.gen(function*() {
      const { claim, gone, launch, tmux } = yield* team
      const launched = yield* launch
      const worker = yield* whatIs(tmux, launched.pane)
      const identity = yield* claim(worker)
      assert.isFalse(yield* gone(launched.trace))
      yield* tmux.run(["kill-server"])
      yield* ended(tmux.serverPid)
      assert.isTrue(yield* elsewhereGone(launched.trace))
      // The same again at the same socket: ids start from 0.
      yield* tmux.run(["new-session", "-d", "-s", "anchor", "--", "/bin/sh", "-c", stay])
      const serverPid = Number(yield* tmux.run(["display-message", "-p", "-t", "anchor:", "#{pid}"]))
      const own = yield* whatIs(tmux, tmux.variables.TMUX_PANE)
      const again = from(tmux, own, serverPid)
      const second = yield* again.launch
      assert.strictEqual(second.pane, launched.pane)
      assert.isTrue(yield* again.gone(launched.trace))
      assert.isFalse(yield* again.gone(second.trace))
      const successor = yield* whatIs(tmux, second.pane)
      const error = yield* Effect.flip(
        again.verify({
          ...identity,
          terminalId: successor.tty,
          pid: successor.pid,
          processStart: yield* startOf(successor.pid)
        })
      )
      assert.strictEqual(error.detail, "it belongs to another tmux server than this session")
      // Who still has the variables of the ended server knows nothing of the new one.
      const stale = from(tmux, own, tmux.serverPid)
      assert.include((yield* Effect.flip(stale.identify)).detail, "another one has its socket")
      assert.isFalse(yield* stale.gone(second.trace))
    }))

  it.scopedLive("of a server at another socket nothing is known until it has ended", () =>
    Effect.gen(function*() {
      const one = yield* team
      const other = yield* team
      const launched = yield* other.launch
      assert.isFalse(yield* one.gone(launched.trace))
      yield* other.tmux.run(["kill-pane", "-t", launched.pane])
      assert.isFalse(yield* one.gone(launched.trace))
      assert.isTrue(yield* other.gone(launched.trace))
      yield* other.tmux.run(["kill-server"])
      yield* ended(other.tmux.serverPid)
      assert.isTrue(yield* one.gone(launched.trace))
    }))
})
