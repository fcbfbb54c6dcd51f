import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { setImmediate } from "node:timers/promises"
import { initial, type State, withKey, withSnapshot, workersOf } from "../../monitor/State.ts"
import { bare } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import type { Snapshot } from "../../src/domain/Snapshot.ts"
import { nextTurn } from "../../src/layers/Turns.ts"
import { snapshot } from "../support/SnapshotScripted.ts"
import { workers } from "./Example.ts"
import { nastyTeam, now, variants } from "./Nasty.ts"
import { keeps, version } from "./Rules.ts"

// Vitest gives up a process that does not answer it for a minute.
afterEach(() => setImmediate())

const teams = [0, 1, 12, 256].map((workers) => nastyTeam(workers))

describe("a frame has exactly its height, and no line is wider than its width (spec 8)", () => {
  it.live("at every small size, for every state", () =>
    Effect.forEach([
      initial("/team", now),
      initial("/home/\u001b[31muser/日本", now - 60_000),
      ...teams.slice(0, 3).flatMap(variants)
    ], (team) => {
      for (let width = 0; width <= 40; width += 1) {
        for (let height = 0; height <= 12; height += 1) keeps(team, width, height)
      }
      return nextTurn
    }))

  it.live("at every width and at every height from 0 to 200 (View.long.test.ts has all of both)", () =>
    Effect.forEach(teams.flatMap(variants), (team) => {
      for (let n = 0; n <= 200; n += 1) {
        keeps(team, n, 24)
        keeps(team, 80, n)
      }
      return nextTurn
    }))

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
        keeps({ ...withSnapshot(initial(text, now), snapshot([changed], now), now), details }, width, height)
      }),
      { numRuns: 500 }
    )
  })
})

describe("details", () => {
  const at = (state: State, width: number, height: number) => view(state, { width, height, now, version, style: bare })
  const opened = withKey(nastyTeam(12), "enter", now)
  const below = (state: State, width: number, height: number) => {
    const lines = at(state, width, height).slice(0, -1)
    return lines.slice(lines.findIndex((line) => line.startsWith("── ")))
  }
  const press = (state: State, ...keys: ReadonlyArray<string>) =>
    keys.reduce((before, key) => withKey(before, key, now), state)

  it("show every line of what they hold, page after page, and then the first page again", () => {
    for (const { agent } of workersOf(opened)) {
      const state = { ...opened, selected: agent.sessionId }
      const [, ...whole] = below(state, 60, 1000)
      const all = whole.slice(0, whole.findLastIndex((line) => line !== "") + 1)
      for (const height of [6, 7, 10, 24, 50]) {
        const pages = Number(/ · 1\/(\d+) /.exec(below(state, 60, height)[0] ?? "")?.[1] ?? 1)
        let shown: ReadonlyArray<string> = []
        let turned: State = state
        for (let page = 1; page <= pages; page += 1) {
          const [title = "", ...lines] = below(turned, 60, height)
          if (pages > 1) assert.include(title, ` · ${page}/${pages} `)
          const more = /^… (\d+) more lines/.exec(lines.at(-1) ?? "")?.[1]
          shown = [...shown, ...more === undefined ? lines : lines.slice(0, -1)]
          if (more !== undefined) assert.strictEqual(shown.length + Number(more), all.length)
          turned = withKey(turned, page % 2 === 0 ? "pageDown" : "space", now)
        }
        assert.deepStrictEqual(shown.slice(0, all.length), all, `${agent.sessionId} at ${height}`)
        assert.isTrue(shown.slice(all.length).every((line) => line === ""))
        assert.deepStrictEqual(below(turned, 60, height), below(state, 60, height))
      }
    }
  })

  it("turn back from the first page to the last, and begin anew at another worker", () => {
    const state = opened
    assert.match(below(press(state, "pageUp"), 40, 12)[0] ?? "", / · (\d+)\/\1 /)
    assert.deepStrictEqual(below(press(state, "space", "pageUp"), 40, 12), below(state, 40, 12))
    for (const keys of [["down"], ["enter", "enter"], ["escape", "enter"]]) {
      assert.deepStrictEqual(at(press(state, "space", ...keys), 40, 12), at(press(state, ...keys), 40, 12))
    }
  })

  it("begin with what may need the person, however little room there is", () => {
    const [one] = workers.filter(({ agent }) => agent.name === "Emil 🚀")
    const state = withKey(
      withSnapshot(initial("/team", now), snapshot(one === undefined ? [] : [one], now), now),
      "enter",
      now
    )
    assert.match(below(state, 40, 5)[1] ?? "", /^Report: Needs decision/)
    const labels = below(state, 100, 40).flatMap((line) => /^[A-Z][a-z]+( activity)?(?= {2})/.exec(line)?.[0] ?? [])
    const order = ["Report", "Close", "Connection", "Observed", "Last activity", "Responsibility", "Handoff"]
    assert.deepStrictEqual(labels, order)
  })
})

describe("where there is no team to show", () => {
  const without = (root: string, noTeam: NonNullable<Snapshot["noTeam"]>, width = 200) => {
    const state = withSnapshot(initial(root, now), snapshot([], now, { errors: ["config_unavailable"], noTeam }), now)
    return view(state, { width, height: 8, now, version, style: bare }).slice(0, -1).join("\n").trimEnd()
  }
  const mark = (noTeam: NonNullable<Snapshot["noTeam"]>, width: number) => {
    const gone = snapshot([], now, { errors: ["config_unavailable"], noTeam })
    const state = withSnapshot(nastyTeam(1), gone, now)
    return view({ ...state, root: "/team" }, { width, height: 4, now: now + 5000, version, style: bare })[0]
  }

  it("says which it is, and what to do", () => {
    assert.match(without("/no/where", "no_folder"), /^There is no folder \/no\/where, .*--root\.$/)
    assert.match(
      without("/here", "no_file"),
      /^There is no team file in \/here yet\. Start Pi there and run \/intercom start/
    )
    assert.match(without("/here", "unusable"), /^The team file in \/here cannot be used/)
    assert.match(without("/here", "unusable"), /\npi-intercom-doctor --root \/here$/)
    assert.match(without("/my team's\u001b[31m", "unusable"), /\npi-intercom-doctor --root '\/my team'\\''s'$/)
    assert.strictEqual(
      without("/here", "unusable", 30),
      "The team file in /here cannot\nbe used, so no team is shown;\nthe file was not changed. To\nsee why, run:\n" +
        "pi-intercom-doctor --root\n/here"
    )
  })

  it("marks the team that was shown before, and names the doctor where there is room", () => {
    assert.strictEqual(mark("no_folder", 80), "! The folder of the team is gone: this is the team of 5s ago")
    assert.strictEqual(mark("no_file", 80), "! The team file is gone: this is the team of 5s ago")
    const unreadable = "! The team file cannot be read: this is the team of 5s ago"
    assert.strictEqual(mark("unusable", 120), `${unreadable} · pi-intercom-doctor --root /team says why`)
    assert.strictEqual(mark("unusable", 90), `${unreadable} · pi-intercom-doctor says why`)
    assert.strictEqual(mark("unusable", 80), unreadable)
  })
})

describe("the table", () => {
  const at = (state: State, width: number, height: number) => view(state, { width, height, now, version, style: bare })

  it("shows the selected worker at every size that has room for a row, and says how many it does not show", () => {
    const team = nastyTeam(256)
    for (const height of [2, 3, 4, 24, 200]) {
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
