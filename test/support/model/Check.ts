import * as FC from "effect/FastCheck"
import { type Outcome, run } from "./Run.ts"
import { print, type Schedule, schedule } from "./Schedule.ts"
import type { Tally } from "./World.ts"

/** What thousands of schedules showed. */
export interface Checked {
  readonly runs: number
  readonly violations: number
  readonly tally: Tally
  /** The first violations, each with its shrunk schedule. */
  readonly reports: ReadonlyArray<string>
}

const batch = 500
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

const report = (seed: number, index: number): string => {
  const found = FC.check(FC.property(schedule, holds), { seed, path: String(index), endOnFailure: false })
  const shrunk = found.counterexample?.[0]
  if (shrunk === undefined) return `seed ${seed} path ${index}: could not be reproduced`
  const { log, violation } = attempt(shrunk, true)
  return [`seed ${seed} path ${found.counterexamplePath ?? index}`, violation, print(shrunk), ...log].join("\n")
}

/** Runs `runs` schedules from `seed` on, in batches with seeds of their own, and shrinks the first that go wrong. */
export const check = (runs: number, seed: number): Checked => {
  const tally: Tally = new Map()
  const reports: Array<string> = []
  const known = new Set<string>()
  let violations = 0
  for (let done = 0; done < runs; done += batch) {
    const from = seed + done / batch
    for (const [index, one] of FC.sample(schedule, { numRuns: Math.min(batch, runs - done), seed: from }).entries()) {
      const outcome = attempt(one)
      for (const [key, value] of outcome.tally) tally.set(key, (tally.get(key) ?? 0) + value)
      if (outcome.violation === undefined) continue
      violations += 1
      const kind = outcome.violation.replace(/ \(at .*/, "")
      if (known.has(kind) || reports.length >= maxReports) continue
      known.add(kind)
      reports.push(report(from, index))
    }
  }
  return { runs, violations, tally, reports }
}
