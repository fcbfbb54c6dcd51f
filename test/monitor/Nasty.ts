import { type Check } from "../../monitor/Row.ts"
import { initial, type State, withCheck, withSnapshot } from "../../monitor/State.ts"
import { AgentName, Port, SessionId } from "../../src/domain/Primitives.ts"
import type { Snapshot, WorkerView } from "../../src/domain/Snapshot.ts"
import { snapshot, worker } from "../support/SnapshotScripted.ts"

/** Teams whose texts try everything that a terminal can be made to do. */

export const now = Date.parse("2026-08-01T12:00:00.000Z")
export const before = (ms: number): string => new Date(now - ms).toISOString()

/** What files can hold; each begins and ends with letters, so that what should survive can be looked for. */
export const nasty: ReadonlyArray<string> = [
  "plain",
  "日本語の名前と説明",
  "한국어 이름",
  "👩‍👩‍👧‍👦 family 👍🏽 🏳️‍🌈 1️⃣ 🇩🇪🇫🇷🇯",
  "e\u0301a\u0308\u0323\u0301\u0301\u0301\u0301o\u0302",
  "\u0301\u0308 begins with marks",
  "שלום עולם مرحبا بالعالم",
  "कार्यकर्ता ไทยำน้ำ",
  "a\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007b",
  "a\u001b]52;c;ZXZpbA==\u001b\\b",
  "a\u001b]0;never ended",
  "a\u001b[31;1mred\u001b[2J\u001b[1;1H\u001b[?1049lb",
  "a\u001bcreset\u001b(0b\u001b",
  "a\u009b31mc1\u009d0;title\u009cb\u0085next\u0090dcs\u009cd",
  "a\u0007\u0008\u007f\u0000b",
  "a\u202eesrever\u202c\u2066iso\u2069b",
  "a\u2028line\u2029paragraph\r\nand\rmore\u000bvt\u000cff",
  "a\ud800b\udc00c",
  "ﾊﾝｶｸ ﾞ ｱﾞ 全角Ａ",
  "\ufe0f\u200d\u200b\u00ad\u2060x",
  "\u0600\u0d4e prepends \u1100\u1161\u11a8 jamo",
  "w".repeat(4000),
  "word ".repeat(800).trim(),
  "漢".repeat(4000),
  "👨‍👩‍👧 ".repeat(400).trim(),
  "x\n".repeat(1000).trim(),
  "\t\ttabs\t"
]

const pick = <A>(of: ReadonlyArray<A>, n: number, or: A): A => of[n % of.length] ?? or
const reports = ["blocked", "needs_decision", "ready_for_review", "clear"] as const
const statuses = ["unknown", "closed", "thinking", "waiting", "working", "idle"] as const
const evidences = ["missing", "clock_uncertain", "conflicting", "recent", "stale"] as const
const jobs = ["requested", "awaiting_handoff", "closing", "uncertain", "closed", "timed_out"] as const
const ages = [-5000, 0, 12_000, 59_999, 60_001, 3 * 60_000, 2 * 3_600_000, 4 * 86_400_000, 900 * 86_400_000]

/** A worker with the n-th of everything: names and texts are valid only as far as their length goes. */
export const nastyWorker = (n: number): WorkerView => {
  const text = pick(nasty, n, "")
  const name = pick(nasty, Math.floor(n / 3), "").slice(0, 128)
  const updatedAt = before(pick(ages, n, 0))
  const evidence = pick(evidences, n + 2, "missing")
  return worker("w", {
    agent: {
      sessionId: SessionId.make(`${n}`),
      name: AgentName.make(`w${n}`, { disableValidation: true }),
      ...(n % 3 === 0 ? { name: AgentName.make(name, { disableValidation: true }) } : {}),
      description: pick(nasty, n + 5, ""),
      port: Port.make(20_000 + n),
      ...(n % 2 === 0 ? { handoff: { version: 1, jobId: "j", summary: pick(nasty, n + 9, ""), updatedAt } } : {}),
      ...(n % 4 === 1
        ? {
          closeJob: {
            jobId: "j",
            state: pick(jobs, n, "closed"),
            createdAt: updatedAt,
            updatedAt,
            deadlineAt: updatedAt,
            ...(n % 3 === 0 ? { reason: "worker_busy" as const } : {})
          }
        }
        : {})
    },
    ...(n % 5 < 3
      ? { report: { status: pick(reports, n, "clear"), summary: pick(nasty, n + 13, "").slice(0, 2000), updatedAt } }
      : {}),
    seen: {
      evidence,
      observedStatus: evidence === "recent" || evidence === "stale" ? pick(statuses, n, "unknown") : "unknown",
      observedAt: evidence === "missing" ? undefined : updatedAt,
      lastActivity: pick([undefined, "Reading files", text], n, undefined)
    }
  })
}

const probes: ReadonlyArray<Check["probe"]> = [
  { state: "connected", reason: "verified" },
  { state: "connected", reason: "unproven" },
  { state: "disconnected", reason: "timeout" },
  { state: "unknown", reason: "unsupported_version" }
]

/** What is shown of so many such workers; some have been probed. */
export const nastyTeam = (workers: number, given: Partial<Snapshot> = {}): State => {
  const views = Array.from({ length: workers }, (_, n) => nastyWorker(n))
  const read = withSnapshot(initial("/home/\u001b[31muser/日本"), snapshot(views, now, given), now)
  return views.reduce(
    (state, { agent }, n) =>
      n % 5 === 4 ? state : withCheck(state, agent, pick(probes, n, { state: "unknown", reason: "malformed" }), now),
    read
  )
}

/** The states that a frame can be in: with and without details, a roster that is not the files', nothing at all. */
export const variants = (state: State): ReadonlyArray<State> => {
  const failed = snapshot([], now, { errors: ["config_unavailable"] })
  return [state, { ...state, details: true }, withSnapshot({ ...state, details: true }, failed, now)]
}
