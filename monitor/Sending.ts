import type { Snapshot, WorkerView } from "../src/domain/Snapshot.ts"

/**
 * A view on its way from the process that reads to the one that shows. What both know already is left out: to copy a
 * team's handoffs and reports every few seconds would take more memory than all else.
 */
export interface Sent {
  readonly view: Omit<Snapshot, "workers">
  /** All workers, in order. */
  readonly ids: ReadonlyArray<string>
  /** Those of which something has changed since they were sent before. */
  readonly changed: ReadonlyArray<WorkerView>
}

const idOf = ({ agent }: WorkerView): string => agent.sessionId

const isSame = (a: WorkerView | undefined, b: WorkerView): boolean =>
  a !== undefined && a.agent === b.agent && a.report === b.report && a.reportUnread === b.reportUnread &&
  a.seen.observedStatus === b.seen.observedStatus && a.seen.evidence === b.seen.evidence &&
  a.seen.observedAt === b.seen.observedAt && a.seen.lastActivity === b.seen.lastActivity

const byId = (workers: ReadonlyArray<WorkerView>): ReadonlyMap<string, WorkerView> =>
  new Map(workers.map((worker) => [idOf(worker), worker]))

/** Makes one end: it is given every view in turn. */
export const sender = (): (snapshot: Snapshot) => Sent => {
  let known = byId([])
  return ({ workers, ...view }) => {
    const changed = workers.filter((worker) => !isSame(known.get(idOf(worker)), worker))
    known = byId(workers)
    return { view, ids: workers.map(idOf), changed }
  }
}

/** Makes the other end: it is given all that its sender made, in the same order. */
export const receiver = (): (sent: Sent) => Snapshot => {
  let known = byId([])
  return ({ changed, ids, view }) => {
    const news = byId(changed)
    const workers = ids.flatMap((id) => news.get(id) ?? known.get(id) ?? [])
    known = byId(workers)
    return { ...view, workers }
  }
}
