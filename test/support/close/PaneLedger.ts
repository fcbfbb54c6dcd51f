import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { TmuxFailed, TmuxServer } from "../TmuxServer.ts"

/** Who ended a pane, or may: a job whose own pane it is, or the test. */
export type Ender = "job" | "test"

/** What is asked of the multiplexer at the end, and what the test and its jobs have to say to that. */
export interface Account {
  /** Closes that were seen to the end: at once, or once the process was proven gone. */
  readonly closed: { readonly atOnce: number; readonly later: number }
  readonly tmux: TmuxServer
  /** The panes that a test ended itself, or whose program it ended, and those of workers that a job closed or may have. */
  readonly mayEnd: ReadonlyMap<string, Ender>
  /** The panes that close commands were given for, one for each command. */
  readonly commands: ReadonlyArray<string>
  /** How many jobs each worker's pane had. */
  readonly jobs: ReadonlyMap<string, number>
}

const totals = { opened: 0, atOnce: 0, later: 0, job: 0, test: 0, commands: 0, jobs: 0 }

/**
 * Asserts that of all the panes that the server ever had exactly those are gone that may be, and that each close command
 * was for the pane of a job's worker, no more of them than jobs. tmux numbers its panes from 0 and gives no number twice.
 */
export const panesEndedAre = (account: Account): Effect.Effect<void, TmuxFailed> =>
  Effect.gen(function*() {
    const { commands, jobs, mayEnd, tmux } = account
    const next = (yield* tmux.run(["new-session", "-d", "-P", "-F", "#{pane_id}", "--", "sleep", "1000"])).trim()
    const there = new Set(
      (yield* tmux.run(["list-panes", "-a", "-F", "#{pane_id}|#{pane_dead}"])).trim().split("\n").flatMap((line) => {
        const [pane = "", dead] = line.split("|")
        return dead === "1" ? [] : [pane]
      })
    )
    yield* tmux.run(["kill-pane", "-t", next])
    const all = Array.from({ length: Number(next.slice(1)) }, (_, at) => `%${at}`)
    const ended = all.filter((pane) => !there.has(pane))
    assert.deepStrictEqual(ended.filter((pane) => !mayEnd.has(pane)), [], "panes that nobody may have ended")
    const given = new Map<string, number>()
    for (const pane of commands) given.set(pane, (given.get(pane) ?? 0) + 1)
    for (const [pane, times] of given) {
      assert.isAtMost(times, jobs.get(pane) ?? 0, `close commands for ${pane}`)
    }
    totals.opened += all.length
    totals.atOnce += account.closed.atOnce
    totals.later += account.closed.later
    for (const pane of ended) totals[mayEnd.get(pane) ?? "test"] += 1
    totals.commands += commands.length
    for (const count of jobs.values()) totals.jobs += count
  })

/** What all the accounts so far came to, in one line. */
export const summary = (): string =>
  `panes: ${totals.opened} opened, ${totals.job} ended by a job of their own, ${totals.test} by the test, 0 others; ` +
  `close commands: ${totals.commands}, each for the pane of one of ${totals.jobs} jobs; ` +
  `closed: ${totals.atOnce} at once, ${totals.later} by later proof`
