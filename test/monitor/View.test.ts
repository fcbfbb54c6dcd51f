import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { initial, type State, withKey, withSnapshot } from "../../monitor/State.ts"
import { bare, coloured } from "../../monitor/Style.ts"
import { widthOf } from "../../monitor/Text.ts"
import { view } from "../../monitor/View.ts"
import { snapshot } from "../support/SnapshotScripted.ts"
import { nastyTeam, now, variants } from "./Nasty.ts"

const version = "0.1.0"
const steering = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/
const sgr = /\u001b\[\d[\d;]*m/g

/** The rendering rules of spec 8, for one frame. */
const keeps = (state: State, width: number, height: number, later = 0): void => {
  const frame = { width, height, now: now + later, version }
  const lines = view(state, { ...frame, style: bare })
  const at = `${width}x${height}`
  assert.strictEqual(lines.length, height, at)
  for (const line of lines) {
    if (widthOf(line) > width) assert.fail(`${at}: ${widthOf(line)} columns: ${JSON.stringify(line)}`)
    if (steering.test(line)) assert.fail(`${at}: steers the terminal: ${JSON.stringify(line)}`)
  }
  const withColour = view(state, { ...frame, style: coloured })
  assert.deepStrictEqual(withColour.map((line) => line.replace(sgr, "")), lines, at)
}

const teams = [0, 1, 12, 256].map((workers) => nastyTeam(workers))

describe("a frame has exactly its height, and no line is wider than its width (spec 8)", () => {
  it("at every small size, for every state", () => {
    for (const team of [initial("/team"), ...teams.slice(0, 3).flatMap(variants)]) {
      for (let width = 0; width <= 40; width += 1) {
        for (let height = 0; height <= 12; height += 1) keeps(team, width, height)
      }
    }
  })

  it("at every width and at every height from 0 to 200", () => {
    for (const team of teams.flatMap(variants)) {
      for (let n = 0; n <= 200; n += 1) {
        keeps(team, n, 24)
        keeps(team, 80, n)
      }
    }
  })

  it("at any size to 1000, at any time, whoever is selected", () => {
    const size = FastCheck.integer({ min: 0, max: 1000 })
    const later = FastCheck.integer({ min: -1e9, max: 1e9 })
    FastCheck.assert(
      FastCheck.property(
        size,
        size,
        FastCheck.nat(255),
        later,
        FastCheck.boolean(),
        (width, height, n, ms, details) => {
          for (const team of teams) keeps({ ...team, selected: `${n}`, details }, width, height, ms)
        }
      ),
      { numRuns: 150 }
    )
  })

  it("for any text whatever, in every place", () => {
    const text = FastCheck.string({ unit: "binary", maxLength: 300 })
    const size = FastCheck.integer({ min: 0, max: 130 })
    const [team] = teams.slice(1)
    const [one] = team?.good?.workers ?? []
    FastCheck.assert(
      FastCheck.property(text, size, size, FastCheck.boolean(), (text, width, height, details) => {
        if (one === undefined) return assert.fail("no worker")
        const handoff = { version: 1, jobId: "j", summary: text, updatedAt: text } as const
        const closeJob = { jobId: "j", state: "closed", createdAt: text, updatedAt: text, deadlineAt: text } as const
        const report = {
          version: 1,
          sessionId: one.agent.sessionId,
          status: "blocked",
          summary: text,
          updatedAt: text
        } as const
        const changed = {
          agent: { ...one.agent, name: one.agent.name, description: text, handoff, closeJob },
          report,
          seen: { ...one.seen, lastActivity: text, observedAt: text }
        }
        keeps({ ...withSnapshot(initial(text), snapshot([changed], now), now), details }, width, height)
      }),
      { numRuns: 500 }
    )
  })
})

describe("the table", () => {
  const at = (state: State, width: number, height: number) => view(state, { width, height, now, version, style: bare })

  it("shows the selected worker at every size that has room for a row, and says how many it does not show", () => {
    const team = nastyTeam(256)
    for (const height of [2, 3, 4, 8, 24, 50, 200]) {
      let state = team
      for (let n = 0; n < 256; n += 1) {
        const lines = at(state, 100, height)
        assert.strictEqual(lines.filter((line) => line.startsWith("> ")).length, 1, `${n} at ${height}`)
        const shown = lines.slice(0, -1).filter((line) => /^[> ] /.test(line) && !/^ {2}(Worker|\d+ more)/.test(line))
        const [, more, first, last] = /^ {2}(\d+) more · rows (\d+)–(\d+) of 256$/m.exec(lines.join("\n")) ?? []
        if (height > 2) {
          assert.strictEqual(Number(last) - Number(first) + 1, shown.length)
          assert.strictEqual(Number(more), 256 - shown.length)
        }
        state = withKey(state, "down", now)
      }
    }
  })

  it("lets Last activity go first, then Seen's detail, and no name loses a column before that", () => {
    const headers = (width: number) => at(nastyTeam(12), width, 20)[0]?.trim().split(/ {2,}/).join("|")
    let seen: ReadonlyArray<string | undefined> = []
    for (let width = 200; width > 0; width -= 1) {
      const next = headers(width)
      if (seen.at(-1) !== next) seen = [...seen, next]
    }
    assert.deepStrictEqual(seen.slice(0, 2), [
      "Worker|Connection|Report|Activity|Seen|Last activity",
      "Worker|Connection|Report|Activity|Seen"
    ])
  })
})
