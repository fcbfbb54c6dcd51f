import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { noTrace, seenAt, type Trace } from "../../domain/Evidence.ts"
import { maxEntries } from "../../domain/LogFiles.ts"
import type { Snapshot, SnapshotError } from "../../domain/Snapshot.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import { ObservationReader } from "../../services/ObservationReader.ts"
import { ReportStore } from "../../services/ReportStore.ts"
import type { FileFailed } from "../Files.ts"
import { lookNow, orAbsentNow } from "../Files.ts"
import { checkLogsNow, listNow, logsOf } from "../ObservationLog/Folder.ts"
import { nextTurn } from "../Turns.ts"
import { lookAt } from "./Look.ts"
import * as Owners from "./Owners.ts"
import * as Rows from "./Rows.ts"

/** So many files are read in one turn: a millisecond or two. */
const perTurn = 16

interface Logs {
  readonly traces: ReadonlyMap<string, Trace>
  readonly truncated: boolean
  readonly errors: ReadonlyArray<SnapshotError>
}

const none: Logs = { traces: new Map(), truncated: false, errors: [] }
/** Nobody has written a log yet: nothing is missing. */
const unavailable = (failed: FileFailed): Logs =>
  failed.reason === "absent" ? none : { ...none, errors: ["logs_unavailable"] }

const inTurns = <A>(items: Iterable<A>, use: (item: A) => void): Effect.Effect<void> =>
  Effect.gen(function*() {
    let count = 0
    for (const item of items) {
      if (count % perTurn === perTurn - 1) yield* nextTurn
      count += 1
      use(item)
    }
  })

/** The logs of one team, with what is remembered of them from one look to the next. */
const makeLogs = (root: string) => {
  const folder = logsOf(root)
  const owners = Owners.make()
  const rows = Rows.make()

  const read = Effect.fn("ObservationReader.logs")(function*(sessionIds: ReadonlyArray<string>) {
    const listed = Either.flatMap(checkLogsNow(root), () => listNow(folder, maxEntries))
    if (Either.isLeft(listed)) return unavailable(listed.left)
    const { more, names } = listed.right
    const there = new Set(names)
    owners.forget(there)
    rows.forget(there)
    const look = lookAt(folder, names, rows.statOf)
    yield* inTurns(owners.unknown(look), (writerId) => owners.learn(look, writerId))
    const writers = owners.bySession()
    const traces = new Map<string, Trace>()
    let truncated = more
    yield* inTurns(sessionIds, (sessionId) => {
      const { cut, trace } = rows.row(look, sessionId, writers.get(sessionId) ?? [])
      traces.set(sessionId, trace)
      truncated ||= cut
    })
    const errors: ReadonlyArray<SnapshotError> = look.failed() ? ["log_read_failed"] : []
    return { traces, truncated, errors }
  })

  return { read }
}

const isAbsent = (file: string): boolean => {
  const found = orAbsentNow(lookNow(file))
  return Either.isRight(found) && Option.isNone(found.right)
}

const make = Effect.gen(function*() {
  const configs = yield* ConfigReader
  const reports = yield* ReportStore
  const teams = new Map<string, ReturnType<typeof makeLogs>>()
  const turn = yield* Effect.makeSemaphore(1)

  const logsIn = (root: string): ReturnType<typeof makeLogs> => {
    const known = teams.get(root) ?? makeLogs(root)
    teams.set(root, known)
    return known
  }

  const snapshot = Effect.fn("ObservationReader.snapshot")(function*(root: string) {
    const read = yield* Effect.option(configs.read(root))
    const config = Option.getOrUndefined(Option.flatten(read))
    if (config === undefined) {
      const nothing: Snapshot = {
        takenAt: yield* Clock.currentTimeMillis,
        workers: [],
        truncated: false,
        errors: ["config_unavailable"],
        noTeam: Option.isNone(read) ? "unusable" : isAbsent(root) ? "no_folder" : "no_file"
      }
      return nothing
    }
    const agents = config.agents.filter((agent) => !agent.coordinator)
    const sessionIds = agents.map((agent) => agent.sessionId)
    const logs = yield* logsIn(root).read(sessionIds)
    const saved = yield* reports.read(root, sessionIds)
    // Only now: what was written while this was read is not in the future.
    const takenAt = yield* Clock.currentTimeMillis
    const workers = agents.map((agent) => ({
      agent,
      report: saved.reports.get(agent.sessionId),
      ...(saved.unread.has(agent.sessionId) ? { reportUnread: true } : {}),
      seen: seenAt(logs.traces.get(agent.sessionId) ?? noTrace, takenAt)
    }))
    const errors: ReadonlyArray<SnapshotError> = saved.unread.size === 0 || logs.errors.includes("log_read_failed")
      ? logs.errors
      : [...logs.errors, "log_read_failed"]
    const seen: Snapshot = { takenAt, workers, truncated: logs.truncated, errors }
    return seen
  }, turn.withPermits(1))

  return ObservationReader.of({ snapshot })
})

/** The view of a team by the files in its folder; remembers what it has read. */
export const layer: Layer.Layer<ObservationReader, never, ConfigReader | ReportStore> = Layer.effect(
  ObservationReader,
  make
)
