import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { checking } from "../support/model/Check.ts"
import type { Schedule } from "../support/model/Schedule.ts"

/** What a few thousand schedules must have come to, or they would prove little; each at least so often in 2,500. */
const often: Readonly<Record<string, number>> = {
  commands: 600,
  "state awaiting_settlement": 1200,
  "state closing": 900,
  "state closed": 500,
  "state uncertain": 150,
  "state failed": 200,
  "state timed_out": 200,
  "state interrupted": 40,
  "settled by proof": 10,
  "settled by the person": 50,
  ...Object.fromEntries(
    ["timeout", "interrupted", "identity_failed", "close_unverified"].map((reason) => [`reason ${reason}`, 80])
  ),
  ...Object.fromEntries(
    ["delivery_failed", "save_failed", "close_failed", "worker_changed", "commit_rejected"].map((reason) => [
      `reason ${reason}`,
      12
    ])
  ),
  ...Object.fromEntries(
    ["Drop", "LoseAnswer", "Duplicate", "Refuse", "Busy", "Late", "Slow"].map((fault) => [`fault net ${fault}`, 40])
  ),
  ...Object.fromEntries(
    ["FailBefore", "FailAfter", "Hang", "CrashBefore", "CrashAfter"].map((fault) => [`fault write ${fault}`, 30])
  ),
  ...Object.fromEntries(
    ["FailBefore", "FailAfter", "Hang", "CrashBefore", "CrashAfter"].map((fault) => [`fault ledger ${fault}`, 2])
  ),
  ...Object.fromEntries(["Fail", "Hang", "Stuck"].map((fault) => [`fault mux ${fault}`, 25])),
  ...Object.fromEntries(
    ["AnswerLost", "TooLate", "NotStarted", "NoEffect"].map((fault) => [`fault mux ${fault}`, 10])
  ),
  ...Object.fromEntries(
    ["crash", "reload", "input", "jump", "send", "configure", "remove", "compact", "dialog", "tree", "bash"].map((
      act
    ) => [`act ${act}`, 40])
  ),
  ...Object.fromEntries(
    ["replace", "respawn", "move", "exec", "reuse", "twin", "header", "resolve", "resume"].map((act) => [
      `act ${act}`,
      10
    ])
  )
}

/** Runs that many schedules under one multiplexer: none violates what must always hold, and they are about something. */
export const holdsUnder = Effect.fnUntraced(
  function*(multiplexer: Schedule["multiplexer"], runs: number, seed: number) {
    const steps = checking(runs, seed, [multiplexer])
    let step = steps.next()
    while (step.done !== true) {
      // The test runner hears nothing of a process that never waits.
      yield* Effect.sleep(0)
      step = steps.next()
    }
    const { reports, tally, violations } = step.value
    assert.strictEqual(violations, 0, reports.join("\n\n"))
    for (const [what, least] of Object.entries(often)) {
      assert.isAtLeast(tally.get(what) ?? 0, Math.floor(least * runs / 2500), what)
    }
  }
)
