import { plainLine } from "./Delivery.ts"
import type { ObservedStatus, Seen, Snapshot, WorkerView } from "./Snapshot.ts"

/** Why a worker needs the person, the most urgent first (spec 8, order). */
export const needs = ["needs_decision", "blocked", "waiting", "uncertain"] as const
export type Need = typeof needs[number]

/** Why a worker that is seen to do this needs the person; undefined when it does not. */
export const needOf = ({ agent, report }: WorkerView, status: ObservedStatus): Need | undefined => {
  if (report?.status === "needs_decision" || report?.status === "blocked") return report.status
  if (status === "waiting") return "waiting"
  return agent.closeJob?.state === "uncertain" ? "uncertain" : undefined
}

const words: Readonly<Record<Need, string>> = {
  needs_decision: "needs decision",
  blocked: "blocked",
  waiting: "waiting",
  uncertain: "close uncertain"
}

/** So many are named; Pi cuts the line where its terminal ends. */
const maxNamed = 3
const maxName = 24

/** A name that keeps to its place in a line, whatever it is made of. */
const shortName = (name: string): string => {
  const plain = [...plainLine(name)]
  return plain.length > maxName ? `${plain.slice(0, maxName - 1).join("")}…` : plain.join("")
}

const states = ["working", "thinking", "idle", "closed", "not seen lately", "unknown"] as const

/** What is counted of a worker: that it worked a while ago does not say that it works (spec 7.4). */
const countedAs = ({ evidence, observedStatus }: Seen): string =>
  evidence === "stale" && (observedStatus === "working" || observedStatus === "thinking")
    ? "not seen lately"
    : observedStatus

/**
 * The team in one line (issue 6): who needs the person, by name, then how many others there are of each state. Undefined
 * when there are no workers; what could not be read is said.
 */
export const statusLine = ({ errors, truncated, workers }: Snapshot): string | undefined => {
  if (errors.includes("config_unavailable")) return "Intercom: the team file cannot be used, see /intercom doctor"
  if (workers.length === 0) return undefined
  const rows = workers.map((worker) => ({
    name: worker.agent.name,
    status: countedAs(worker.seen),
    need: needOf(worker, worker.seen.observedStatus)
  }))
  const urgent = needs.flatMap((need) => rows.filter((row) => row.need === need))
  const named = urgent.slice(0, maxNamed).map(({ name, need }) => `${shortName(name)} ${need && words[need]}`)
  const more = urgent.length > maxNamed ? [`${urgent.length - maxNamed} more need you`] : []
  const others = states.flatMap((state) => {
    const count = rows.filter((row) => row.need === undefined && row.status === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  const partial = truncated || errors.length > 0 ? ["partial observations"] : []
  return `Intercom: ${
    [[...named, ...more], others, partial].filter((part) => part.length > 0)
      .map((part) => part.join(", ")).join(" · ")
  }`
}
