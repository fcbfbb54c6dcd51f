import * as FC from "effect/FastCheck"
import { type Outcome, run } from "./Run.ts"
import { print, type Schedule, schedulesOn } from "./Schedule.ts"
import type { Tally } from "./World.ts"

/** What thousands of schedules showed. */
export interface Checked {
  readonly runs: number
  readonly violations: number
  readonly tally: Tally
  /** The first violations, each with its shrunk schedule. */
  readonly reports: ReadonlyArray<string>
}

const both = ["tmux", "herdr"] as const
const batch = 250
const maxReports = 5

/** What the machine itself throws is a violation too: something runs for ever in no time. */
const attempt = (one: Schedule, verbose = false): Outcome => {
  try {
    return run(one, verbose)
  } catch (error) {
    return { violation: String(error), tally: new Map(), log: [] }
  }
}

const holds = (one: Schedule): void => {
  const { violation } = attempt(one)
  if (violation !== undefined) throw new Error(violation)
}

const report = (schedules: FC.Arbitrary<Schedule>, seed: number, index: number): string => {
  const found = FC.check(FC.property(schedules, holds), { seed, path: String(index), endOnFailure: false })
  const shrunk = found.counterexample?.[0]
  if (shrunk === undefined) return `seed ${seed} path ${index}: could not be reproduced`
  const { log, violation } = attempt(shrunk, true)
  return [`seed ${seed} path ${found.counterexamplePath ?? index}`, violation, print(shrunk), ...log].join("\n")
}

/** A check that goes on batch by batch, each with a seed of its own, so that whoever runs it can breathe between two. */
export const checking = function*(
  runs: number,
  seed: number,
  on: ReadonlyArray<Schedule["multiplexer"]> = both
): Generator<void, Checked> {
  const schedules = schedulesOn(...on)
  const tally: Tally = new Map()
  const reports: Array<string> = []
  const known = new Set<string>()
  let violations = 0
  for (let done = 0; done < runs; done += batch) {
    const from = seed + done / batch
    for (const [index, one] of FC.sample(schedules, { numRuns: Math.min(batch, runs - done), seed: from }).entries()) {
      const outcome = attempt(one)
      for (const [key, value] of outcome.tally) tally.set(key, (tally.get(key) ?? 0) + value)
      if (outcome.violation === undefined) continue
      violations += 1
      const kind = outcome.violation.replace(/ \(at .*/, "")
      if (known.has(kind) || reports.length >= maxReports) continue
      known.add(kind)
      reports.push(report(schedules, from, index))
    }
    yield
  }
  return { runs, violations, tally, reports }
}

/** Runs `runs` schedules from `seed` on, and shrinks the first that go wrong. */
export const check = (runs: number, seed: number): Checked => {
  const steps = checking(runs, seed)
  for (let step = steps.next();; step = steps.next()) if (step.done === true) return step.value
}

/** The first violation from `seed` on, and at which schedule; for breakages that must be caught. */
export const firstViolation = (runs: number, seed: number): string | undefined => {
  const schedules = schedulesOn(...both)
  for (let done = 0; done < runs; done += batch) {
    for (const [index, one] of FC.sample(schedules, { numRuns: batch, seed: seed + done / batch }).entries()) {
      const { violation } = attempt(one)
      if (violation !== undefined) return `schedule ${done + index + 1}: ${violation}`
    }
  }
  return undefined
}
