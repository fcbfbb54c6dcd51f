import type { Probe } from "../src/domain/Probe.ts"
import type { Snapshot, WorkerView } from "../src/domain/Snapshot.ts"
import type { Endpoint } from "../src/services/IntercomClient.ts"
import { type Check, rowsOf } from "./Row.ts"

/** All that a frame is drawn from, but its size and the time. */
export interface State {
  readonly root: string
  /** When reading began, in ms since the epoch. */
  readonly startedAt: number
  /** The newest view, whatever it could not read; undefined before the first. */
  readonly newest: Snapshot | undefined
  /** The newest view of a team file that could be used: what is shown, with a mark when it is not {@link newest}. */
  readonly good: Snapshot | undefined
  /** By session id. */
  readonly checks: ReadonlyMap<string, Check>
  /** A session id: the selection follows it through every reorder. */
  readonly selected: string | undefined
  readonly details: boolean
  /** How many pages the details were turned forward; they turn around. */
  readonly turned: number
  readonly quit: boolean
}

/** Before anything is known; without a start it is never late. */
export const initial = (root: string, startedAt = Number.POSITIVE_INFINITY): State => ({
  root,
  startedAt,
  newest: undefined,
  good: undefined,
  checks: new Map(),
  selected: undefined,
  details: false,
  turned: 0,
  quit: false
})

/** The workers that are shown, in saved order. */
export const workersOf = (state: State): ReadonlyArray<WorkerView> => state.good?.workers ?? []

/** Whether nothing but an older roster can be shown. */
export const isOutdated = (state: State): boolean => state.newest !== state.good

/** While logs or reports cannot be read, what was known of a worker before stays, and ages. */
const keepSeen = (before: Snapshot | undefined, snapshot: Snapshot): Snapshot => {
  const blind = snapshot.errors.includes("logs_unavailable") || snapshot.errors.includes("log_read_failed")
  if (!blind || before === undefined) return snapshot
  const known = new Map(before.workers.map((worker) => [worker.agent.sessionId, worker]))
  const workers = snapshot.workers.map((worker) => {
    const earlier = known.get(worker.agent.sessionId)
    if (earlier === undefined) return worker
    return {
      ...worker,
      seen: worker.seen.evidence === "missing" ? earlier.seen : worker.seen,
      report: worker.reportUnread === true ? earlier.report : worker.report
    }
  })
  return { ...snapshot, workers }
}

const idsOf = (state: State, now: number): ReadonlyArray<string> =>
  rowsOf(workersOf(state), state.checks, now).map(({ id }) => id)

/** The selected session, else whoever has taken its place in the order. */
const reselect = (before: State, after: State, now: number): State => {
  const ids = idsOf(after, now)
  if (after.selected !== undefined && ids.includes(after.selected)) return after
  const place = before.selected === undefined ? 0 : Math.max(0, idsOf(before, now).indexOf(before.selected))
  return { ...after, selected: ids[Math.min(place, ids.length - 1)], turned: 0 }
}

/** A read has ended. A probe's result stays only while its worker and the saved port do. */
export const withSnapshot = (state: State, snapshot: Snapshot, now: number): State => {
  if (snapshot.errors.includes("config_unavailable")) return { ...state, newest: snapshot }
  const good = keepSeen(state.good, snapshot)
  const ports = new Map<string, number>(good.workers.map(({ agent }) => [agent.sessionId, agent.port]))
  const checks = new Map([...state.checks].filter(([id, { port }]) => ports.get(id) === port))
  return reselect(state, { ...state, newest: good, good, checks }, now)
}

/** A probe has answered; dropped when that is no longer the worker's saved port. */
export const withCheck = (state: State, { port, sessionId }: Endpoint, probe: Probe, now: number): State => {
  const current = workersOf(state).some(({ agent }) => agent.sessionId === sessionId && agent.port === port)
  return current ? { ...state, checks: new Map(state.checks).set(sessionId, { port, probe, at: now }) } : state
}

/** What a key does, by its name in pi-tui. */
export const withKey = (state: State, key: string | undefined, now: number): State => {
  const select = (step: number): State => {
    const ids = idsOf(state, now)
    const at = state.selected === undefined ? 0 : ids.indexOf(state.selected)
    return { ...state, selected: ids[Math.min(Math.max(0, at + step), ids.length - 1)], turned: 0 }
  }
  const turn = (by: number): State => state.details ? { ...state, turned: state.turned + by } : state
  switch (key) {
    case "up":
    case "k":
      return select(-1)
    case "down":
    case "j":
      return select(1)
    case "enter":
      return { ...state, details: !state.details && state.selected !== undefined, turned: 0 }
    case "space":
    case "pageDown":
      return turn(1)
    case "pageUp":
      return turn(-1)
    case "escape":
      return state.details && state.selected !== undefined ? { ...state, details: false } : { ...state, quit: true }
    case "q":
    case "ctrl+c":
      return { ...state, quit: true }
    default:
      return state
  }
}
