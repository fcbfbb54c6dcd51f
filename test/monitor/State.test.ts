import { assert, describe, it } from "@effect/vitest"
import { rowsOf } from "../../monitor/Row.ts"
import { initial, type State, withCheck, withKey, withSnapshot, workersOf } from "../../monitor/State.ts"
import { coloured } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import { Port, SessionId } from "../../src/domain/Primitives.ts"
import type { Probe } from "../../src/domain/Probe.ts"
import type { Snapshot, WorkerView } from "../../src/domain/Snapshot.ts"
import { snapshot, worker } from "../support/SnapshotScripted.ts"

const now = Date.parse("2026-08-01T12:00:00.000Z")
const at = (ago: number): string => new Date(now - ago).toISOString()
const reading = (state: State, workers: ReadonlyArray<WorkerView>, given: Partial<Snapshot> = {}, time = now): State =>
  withSnapshot(state, snapshot(workers, time, given), time)
const read = (workers: ReadonlyArray<WorkerView>): State => reading(initial("/team"), workers)
const rows = (state: State, time = now) => rowsOf(workersOf(state), state.checks, time)
const order = (state: State): string => rows(state).map(({ name }) => name).join(" ")
const row = (one: WorkerView, time = now) => {
  const [only] = rows(read([one]), time)
  return only ?? assert.fail("no row")
}

const verified: Probe = { state: "connected", reason: "verified" }
const refused: Probe = { state: "disconnected", reason: "refused" }
const seen = (observedStatus: WorkerView["seen"]["observedStatus"], ago: number): WorkerView["seen"] => ({
  observedStatus,
  evidence: ago > 60_000 ? "stale" : "recent",
  observedAt: at(ago),
  lastActivity: undefined
})
const report = (status: "blocked" | "needs_decision" | "ready_for_review" | "clear") => ({
  status,
  summary: status === "clear" ? "" : "x",
  updatedAt: at(1000)
})
const closing = (state: "closing" | "uncertain") =>
  ({ closeJob: { jobId: "j", state, createdAt: at(9), updatedAt: at(9), deadlineAt: at(-9) } }) as const

describe("the order of the table (spec 8)", () => {
  it("who needs the user first, then the rest in saved order, the disconnected last", () => {
    const team = read([
      worker("gone"),
      worker("idle", { seen: seen("idle", 1000) }),
      worker("uncertain", { agent: closing("uncertain") }),
      worker("ready", { report: report("ready_for_review") }),
      worker("waiting", { seen: seen("waiting", 900_000) }),
      worker("blocked1", { report: report("blocked") }),
      worker("decide", { report: report("needs_decision") }),
      worker("blocked2", { report: report("blocked"), seen: seen("waiting", 1) }),
      worker("closing", { agent: closing("closing") }),
      worker("cleared", { report: report("clear") })
    ])
    const probed = workersOf(team).filter(({ agent }) => /^(gone|blocked1)/.test(agent.name)).reduce(
      (state, { agent }) => withCheck(state, agent, refused, now),
      team
    )
    assert.strictEqual(
      order(probed),
      "decide blocked1 blocked2 waiting uncertain idle ready closing cleared gone"
    )
  })

  it("the selection stays with its session when others pass it, and goes to the neighbour when it is gone", () => {
    const [a, b, c] = [worker("a"), worker("b"), worker("c")]
    const onB = withKey(read([a, b, c]), "j", now)
    assert.strictEqual(onB.selected, b.agent.sessionId)
    const reordered = reading(onB, [a, b, worker("c", { report: report("blocked") })])
    assert.strictEqual(order(reordered), "c a b")
    assert.strictEqual(reordered.selected, b.agent.sessionId)
    const renamed = reading(reordered, [c, worker("new", { agent: { sessionId: b.agent.sessionId } }), a])
    assert.strictEqual(renamed.selected, b.agent.sessionId)
    assert.strictEqual(reading(renamed, [c, a]).selected, a.agent.sessionId)
    assert.strictEqual(reading(renamed, [c]).selected, c.agent.sessionId)
    assert.isUndefined(reading(renamed, []).selected)
    assert.strictEqual(reading(reading(renamed, []), [a, c]).selected, a.agent.sessionId)
  })
})

describe("the words (spec 8)", () => {
  it.each([
    [0, "0s ago"],
    [12_000, "12s ago"],
    [59_999, "59s ago"],
    [60_000, "1m ago"],
    [60_001, "1m ago (old)"],
    [3 * 60_000, "3m ago (old)"],
    [2 * 3_600_000, "2h ago (old)"],
    [4 * 86_400_000, "4d ago (old)"],
    [-1, "clock uncertain"]
  ])("of %d ms ago it says %s", (ago, words) => {
    assert.strictEqual(row(worker("w", { seen: seen("idle", ago) })).seen, words)
  })

  it("ages while nothing is read, and is nothing once its time is in the future", () => {
    const one = worker("w", { seen: seen("idle", 0) })
    assert.deepInclude(row(one), { seen: "0s ago", status: "idle", activityTone: "idle" })
    assert.deepInclude(row(one, now + 61_000), { seen: "1m ago (old)", status: "idle", activityTone: "old" })
    assert.deepInclude(row(one, now - 1000), { seen: "clock uncertain", status: "unknown", activityTone: "none" })
  })

  it.each(
    [["blocked", "Blocked"], ["needs_decision", "Needs decision"], ["ready_for_review", "Ready for review"]] as const
  )(
    "a report %s is %s",
    (status, words) => {
      assert.strictEqual(row(worker("w", { report: report(status) })).report, words)
    }
  )

  it("no report, or one taken back, is —", () => {
    assert.strictEqual(row(worker("w")).report, "—")
    assert.strictEqual(row(worker("w", { report: report("clear") })).report, "—")
  })
})

describe("connections", () => {
  const one = worker("w", { agent: { port: Port.make(4000) } })
  const connection = (state: State, time = now) => rows(state, time)[0]?.connection

  it("a result is evidence for 30 s, then stale", () => {
    const state = withCheck(read([one]), one.agent, verified, now)
    assert.deepStrictEqual(connection(read([one])), { state: "unknown", reason: "not_checked" })
    assert.deepStrictEqual(connection(state, now + 30_000), verified)
    assert.deepStrictEqual(connection(state, now + 30_001), { state: "unknown", reason: "stale" })
    assert.deepStrictEqual(connection(state, now - 1), { state: "unknown", reason: "stale" })
  })

  it("a result is dropped when the saved port changes, whichever comes first", () => {
    const moved = worker("w", { agent: { port: Port.make(4001) } })
    const checked = withCheck(read([one]), one.agent, verified, now)
    const after = reading(checked, [moved])
    assert.deepStrictEqual(connection(after), { state: "unknown", reason: "not_checked" })
    assert.deepStrictEqual(connection(withCheck(after, one.agent, verified, now)), {
      state: "unknown",
      reason: "not_checked"
    })
    assert.deepStrictEqual(connection(reading(after, [one])), { state: "unknown", reason: "not_checked" })
    assert.strictEqual(
      withCheck(after, { sessionId: SessionId.make("else"), port: Port.make(1) }, verified, now),
      after
    )
  })
})

describe("what cannot be read", () => {
  const failed: Partial<Snapshot> = { errors: ["config_unavailable"] }
  const lines = (state: State, time = now) =>
    view(state, { width: 100, height: 10, now: time, version: "1", style: coloured })

  it("the last good roster stays, marked, and the mark goes with the next good read", () => {
    const good = read([worker("w", { seen: seen("idle", 1000) })])
    const bad = reading(good, [], failed, now + 3000)
    assert.strictEqual(order(bad), "w")
    assert.include(lines(bad, now + 3000).join(), "! The team file cannot be read: this is the team of 3s ago")
    assert.notInclude(lines(reading(bad, [worker("w")])).join(), "!")
    assert.strictEqual(order(reading(bad, [worker("w")])), "w")
  })

  it("what was seen of a worker stays while logs cannot be read, and ages", () => {
    const good = read([worker("w", { seen: seen("working", 1000) }), worker("gone")])
    const blind = reading(good, [worker("w"), worker("new")], { errors: ["logs_unavailable"] })
    assert.deepInclude(rows(blind)[0], { status: "working", seen: "1s ago" })
    assert.deepInclude(rows(blind)[1], { status: "unknown", seen: "—" })
    assert.include(lines(blind).join(), "Partial observations")
    assert.deepInclude(rows(reading(blind, [worker("w")]))[0], { status: "unknown", seen: "—" })
  })

  it("a report stays while it cannot be read, and no longer", () => {
    const good = read([worker("w", { report: report("needs_decision") })])
    const unread = { ...worker("w"), reportUnread: true }
    const blind = reading(good, [unread], { errors: ["log_read_failed"] })
    assert.strictEqual(rows(blind)[0]?.report, "Needs decision")
    assert.include(lines(blind).join(), "Partial observations")
    assert.strictEqual(rows(reading(blind, [unread], { errors: ["log_read_failed"] }))[0]?.report, "Needs decision")
    assert.strictEqual(rows(reading(blind, [worker("w")], { errors: ["log_read_failed"] }))[0]?.report, "—")
  })

  it("nothing turns green because a source is missing", () => {
    const green = "\u001b[32m"
    for (const status of ["unknown", "closed", "thinking", "waiting", "working"] as const) {
      for (const errors of [["config_unavailable"], ["logs_unavailable"], ["log_read_failed"]] as const) {
        const before = read([worker("w", { seen: seen(status, 1000) })])
        for (const workers of [[worker("w")], []]) {
          assert.notInclude(lines(reading(before, workers, { errors })).join(), green, `${status} ${errors}`)
        }
      }
    }
  })
})

describe("keys (spec 8)", () => {
  const team = read([worker("a"), worker("b")])
  const press = (state: State, ...keys: ReadonlyArray<string>) =>
    keys.reduce((before, key) => withKey(before, key, now), state)

  it("arrows, k and j select, and stop at the ends", () => {
    const [a, b] = workersOf(team).map(({ agent }) => agent.sessionId)
    assert.strictEqual(press(team, "up", "k").selected, a)
    assert.strictEqual(press(team, "down").selected, b)
    assert.strictEqual(press(team, "j", "j", "down").selected, b)
    assert.strictEqual(press(team, "j", "k").selected, a)
  })

  it("Space and Page Down turn the details' pages, Page Up turns them back; without details they do nothing", () => {
    assert.deepInclude(press(team, "enter", "space", "pageDown"), { details: true, turned: 2 })
    assert.deepInclude(press(team, "enter", "pageUp"), { turned: -1 })
    assert.deepInclude(press(team, "enter", "space", "down"), { turned: 0, details: true })
    const gone = reading(press(team, "enter", "space"), [worker("b")])
    assert.deepInclude(gone, { turned: 0, details: true }, "the page was another worker's")
    assert.deepInclude(reading(press(team, "enter", "space"), [worker("a")]), { turned: 1 })
    assert.strictEqual(press(team, "space", "pageDown", "pageUp"), team)
  })

  it("Enter toggles details; Escape closes them and then quits; q and Ctrl+C quit", () => {
    assert.deepInclude(press(team, "enter"), { details: true, quit: false })
    assert.deepInclude(press(team, "enter", "enter"), { details: false, quit: false })
    assert.deepInclude(press(team, "enter", "escape"), { details: false, quit: false })
    assert.isTrue(press(team, "enter", "escape", "escape").quit)
    assert.isTrue(press(team, "escape").quit)
    assert.isTrue(press(team, "enter", "q").quit)
    assert.isTrue(press(team, "enter", "ctrl+c").quit)
    assert.isTrue(press(initial("/team"), "enter", "escape").quit, "there are no details of nobody")
    assert.strictEqual(press(team, "x", "space", "tab"), team)
  })
})
