import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import type { MonitorRequest } from "../../../src/domain/MonitorPane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import type { Trouble } from "../../support/herdr/Faults.ts"
import { alone, type Herdr, type HerdrPane } from "../../support/herdr/Herdr.ts"
import { tmuxPane } from "../../support/herdr/Names.ts"
import { at, stateOf } from "./HerdrSession.ts"

const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 24)

/** A coordinator in a pane of its own workspace. What runs in the place of the monitor counts itself in `ran`. */
export const coordinator = Effect.gen(function*() {
  const herdr = yield* alone
  const own = yield* herdr.workspace(herdr.home)
  const request: MonitorRequest = {
    root: herdr.home,
    sessionId: SessionId.make("ada"),
    argv: ["/bin/sh", "-c", "echo $$ >> \"$HOME/ran\"; exec sleep 1000"],
    directory: herdr.home,
    environment: {}
  }
  const file = join(stateOf(herdr), hash(herdr.home), `monitor-${hash("ada")}.json`)
  const record = Effect.sync((): unknown => fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined)
  const place = (change: Partial<MonitorRequest> = {}, from: HerdrPane = own) =>
    Effect.flatMap(Multiplexers, (all) => all.of("herdr").placeMonitor({ ...request, ...change })).pipe(
      Effect.provide(at(herdr, from))
    )
  const refused = (from?: HerdrPane) => Effect.map(Effect.flip(place({}, from)), ({ message }) => message)
  const created = Effect.map(place(), ({ outcome, pane }) => {
    assert.strictEqual(outcome, "created")
    return { pane, tmux: tmuxPane(pane) }
  })
  const since = (count: number) => Effect.map(herdr.calls, (calls) => calls.slice(count).map(({ command }) => command))
  const ran = join(herdr.home, "ran")
  const runs = Effect.sync(() => fs.existsSync(ran) ? fs.readFileSync(ran, "utf8").trim().split("\n").length : 0)
  return { herdr, own, file, record, place, refused, created, since, runs }
})

/** The panes of a window from top to bottom, the one with the focus marked, and how high they are. */
export const windowOf = (herdr: Herdr, pane: string) =>
  Effect.map(
    herdr.tmux.run(["list-panes", "-t", pane, "-F", "#{pane_top} #{pane_id}#{?pane_active,*,} #{pane_height}"]),
    (text) => {
      const rows = text.trim().split("\n").map((line) => line.split(" "))
        .toSorted(([one], [two]) => Number(one) - Number(two))
      return { panes: rows.map(([, id]) => id), heights: rows.map(([, , height]) => Number(height)) }
    }
  )
/** Every pane there is with its first process. */
export const everything = (herdr: Herdr) =>
  Effect.map(
    herdr.tmux.run(["list-panes", "-a", "-F", "#{window_id} #{pane_id} #{pane_pid}"]),
    (text) => text.trim().split("\n").toSorted()
  )

/** The calls of a look, and of what is then made. */
export const looks = ["pane current", "pane list"]
export const steps = ["pane split", "pane rename", "pane swap", "pane layout", "pane run"] as const

/** What can befall one call; the hangs are in HerdrMonitor.test.ts. */
export const troubles: ReadonlyArray<Trouble> = [
  { does: "exit", when: "before", code: 1, text: "Connection reset by peer" },
  { does: "exit", when: "after", code: 1, text: "Connection reset by peer" },
  { does: "exit", when: "before", code: 2, text: "error: unrecognized subcommand" },
  { does: "refuse", when: "before", code: "pane_split_failed" },
  { does: "refuse", when: "after", code: "timeout" },
  { does: "print", what: "garbage" },
  { does: "print", what: "truncated" },
  { does: "print", what: "oversized" },
  { does: "print", what: "nothing" },
  { does: "shape", as: "extended" },
  { does: "shape", as: "minimal" }
]

/** Whatever of these befalls a step: it is recorded as begun, there is at most one pane, and it is started at most once. */
export const befalls = (step: (typeof steps)[number], those: ReadonlyArray<Trouble>): void => {
  it.scopedLive(`whatever befalls ${step}: recorded as begun, at most one pane, started at most once`, () =>
    Effect.gen(function*() {
      const { file, herdr, own, place, record, refused, runs, since } = yield* coordinator
      let started = 0
      for (const trouble of those) {
        const what = JSON.stringify(trouble)
        const count = (yield* herdr.calls).length
        yield* herdr.faults({ ...trouble, command: step })
        const ended = yield* Effect.either(place())
        yield* herdr.faults()
        const calls = (yield* since(count)).slice(looks.length)
        const made = (yield* windowOf(herdr, own.tmux)).panes.filter((pane) =>
          pane !== `${own.tmux}*` && pane !== own.tmux
        )
        assert.isAtMost(made.length, 1, what)
        const { stage } = Object(yield* record)
        if (Either.isRight(ended)) {
          assert.deepStrictEqual([calls, stage, made], [[...steps], "submitted", [tmuxPane(ended.right.pane)]], what)
          started += 1
        } else {
          assert.deepStrictEqual([calls, stage], [steps.slice(0, steps.indexOf(step) + 1), "creating"], what)
          const said = ended.left.message
          assert.include(said, "nothing was cleaned up", what)
          // A pane that is there is never denied, one that is named is there.
          const named = /The pane (w\S+) may have/.exec(said)?.[1]
          if (named !== undefined) assert.deepStrictEqual(made, [tmuxPane(named)], what)
          if (made.length > 0) assert.notInclude(said, "No pane was opened", what)
          assert.match(yield* refused(), /^The monitor pane was left alone: one was begun/, what)
          if (step === "pane run" && (!("when" in trouble) || trouble.when === "after")) started += 1
        }
        yield* eventuallyTrue(`the programs after ${what}`, Effect.map(runs, (ran) => ran === started))
        for (const pane of made) yield* herdr.tmux.run(["kill-pane", "-t", pane ?? ""])
        fs.rmSync(file, { force: true })
      }
    }))
}
