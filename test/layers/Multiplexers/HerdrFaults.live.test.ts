import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fs from "node:fs"
import { join } from "node:path"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import type { Trouble, When } from "../../support/herdr/Faults.ts"
import { alone, type Herdr, type HerdrPane } from "../../support/herdr/Herdr.ts"
import { at } from "./HerdrSession.ts"

/** Once Herdr has done it, a server that ended or timed out, a client that ended: the effect is there. */
const lost = (when: When): ReadonlyArray<Trouble> => [
  { does: "exit", when, code: 1, text: "Connection reset by peer" },
  { does: "refuse", when, code: "timeout" },
  { does: "refuse", when, code: "internal_error" }
]

const troubles: ReadonlyArray<Trouble> = [
  ...lost("before"),
  ...lost("after"),
  { does: "exit", when: "before", code: 2, text: "error: unrecognized subcommand" },
  { does: "refuse", when: "before", code: "protocol_mismatch" },
  { does: "refuse", when: "before", code: "server_not_running" },
  { does: "print", what: "garbage" },
  { does: "print", what: "oversized" },
  { does: "print", what: "truncated" },
  { does: "print", what: "nothing" },
  { does: "shape", as: "extended" },
  { does: "shape", as: "minimal" },
  { does: "agent", agent: "claude", session: "/old.jsonl" },
  { does: "cut", characters: 300 }
]

/** Of these steps each happens when the one before it has succeeded. */
const steps = ["pane current", "tab create", "pane run"]

/** Whether the launch goes well all the same: fields, other agents and a cut beyond the short line change nothing. */
const isBearable = (trouble: Trouble, command: string): boolean =>
  ["shape", "agent", "cut"].includes(trouble.does) ||
  // This command prints nothing, so what it prints is not read.
  (command === "pane run" && trouble.does === "print" && trouble.what !== "oversized")

const noTab = "No tab was opened."
const perhaps = "A tab may have been opened; look before you create another worker."
const named = /^The Herdr tab (\S+) with the pane (\S+) may have been left behind; nothing was cleaned up/

/** Launches a program that leaves its pid in a file, and looks at what is there afterwards. */
const launchWith = (herdr: Herdr & { readonly home: string }, own: HerdrPane, trouble: Trouble, command: string) =>
  Effect.gen(function*() {
    const ran = join(herdr.home, "ran")
    const tabs = Effect.map(
      herdr.tmux.run(["list-panes", "-a", "-F", "#{window_name}|#{pane_id}"]),
      (text) =>
        text.split("\n").filter((line) => line.startsWith("Intercom (anonymous)|")).map((line) => line.split("|"))
    )
    yield* herdr.faults({ ...trouble, command })
    const before = (yield* herdr.calls).length
    const outcome = yield* Effect.flatMap(Multiplexers, (all) =>
      all.of("herdr").launch({
        root: herdr.home,
        argv: ["/bin/sh", "-c", "echo $$ >> \"$HOME/ran\"; exec sleep 1000"],
        directory: herdr.home,
        environment: {}
      })).pipe(Effect.either, Effect.provide(at(herdr, own)))
    const calls = (yield* herdr.calls).slice(before).map((call) => call.command)
    yield* herdr.faults()
    const opened = yield* tabs
    const runs = Effect.sync(() => fs.existsSync(ran) ? fs.readFileSync(ran, "utf8") : "")
    return {
      outcome,
      calls,
      opened: opened.length,
      /** Waits for the one run that there must be. */
      runsOnce: eventuallyTrue("the program, once", Effect.map(runs, (text) => /^\d+\n$/.test(text))),
      cleanUp: Effect.gen(function*() {
        for (const [, pane = ""] of opened) {
          yield* herdr.tmux.run(["kill-pane", "-t", pane])
        }
        fs.rmSync(ran, { force: true })
      })
    }
  })

describe("launching in a Herdr that fails", () => {
  for (const command of steps) {
    it.scopedLive(`says what it left behind, and tries nothing twice: ${command}`, () =>
      Effect.gen(function*() {
        const herdr = yield* alone
        const own = yield* herdr.workspace(herdr.home)
        for (const trouble of troubles) {
          const what = JSON.stringify(trouble)
          const { calls, cleanUp, opened, outcome, runsOnce } = yield* launchWith(herdr, own, trouble, command)
          const failed = Either.isLeft(outcome)
          // Up to the step that failed, each once.
          assert.deepStrictEqual(calls, failed ? steps.slice(0, steps.indexOf(command) + 1) : steps, what)
          assert.strictEqual(failed, !isBearable(trouble, command), what)
          const hadEffect = command !== "pane run" || !("when" in trouble) || trouble.when === "after"
          if (failed) {
            const unknown = outcome.left.reason === "unknown"
            const begins = unknown
              ? "It is not known whether the worker was launched: "
              : "The worker was not launched: "
            assert.isTrue(outcome.left.message.startsWith(begins), outcome.left.message)
            const said = /\. (.+)$/.exec(outcome.left.message)?.[1] ?? ""
            assert.isTrue(said === noTab || said === perhaps || named.test(said), `${what}: ${outcome.left.message}`)
            // A tab that is there is never denied, one that is named is there.
            if (opened > 0) assert.notStrictEqual(said, noTab, what)
            if (command === "pane run") {
              const [, , pane = ""] = named.exec(said) ?? []
              assert.match(pane, /^w2:p\d+$/, what)
              assert.strictEqual(opened, 1, what)
            }
            if (command === "pane current") assert.deepStrictEqual([opened, said], [0, noTab], what)
          }
          if (!failed || (command === "pane run" && hadEffect)) yield* runsOnce
          yield* cleanUp
        }
      }))
  }
})
