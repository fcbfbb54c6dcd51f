import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import {
  instantAfter,
  isDeciding,
  joined,
  newest,
  noTrace,
  seenAt,
  type Trace,
  traceOf
} from "../../src/domain/Evidence.ts"
import { type Observation, readRecord, recordLine } from "../../src/domain/Observation.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import type { Snapshot } from "../../src/domain/Snapshot.ts"
import { ConfigReader } from "../../src/services/ConfigReader.ts"
import { ObservationLog } from "../../src/services/ObservationLog.ts"
import { ObservationReader } from "../../src/services/ObservationReader.ts"
import { ReportStore } from "../../src/services/ReportStore.ts"

/** A log that keeps what was recorded, in order. */
export interface ObservationMemory {
  readonly recorded: ReadonlyArray<Observation>
  readonly layer: Layer.Layer<ObservationLog>
}

/** The logs of the sessions of one machine, and a reader of them. */
export const makeObservationWorld = () => {
  /** By session what each of its writers has recorded in the team that it opened, in order. */
  const written = new Map<string, Array<{ root: string | undefined; trace: Trace }>>()

  const decided = new Map<string, number>()

  /** The log of a new start of a session; it ends with the layer's scope. */
  const session = (id: string): ObservationMemory => {
    const sessionId = SessionId.make(id)
    const recorded: Array<Observation> = []
    const log: { root: string | undefined; trace: Trace } = { root: undefined, trace: noTrace }
    written.set(id, [...written.get(id) ?? [], log])
    const keep = (now: number, observation: Observation): void => {
      recorded.push(observation)
      if (!isDeciding(observation.event)) return
      // In memory a session starts again within the millisecond in which it ended.
      const decidedAt = instantAfter(decided.get(id) ?? 0, now)
      decided.set(id, decidedAt)
      const timestamp = DateTime.formatIso(DateTime.unsafeMake(decidedAt))
      const line = recordLine({ timestamp, writerId: "w", sessionId }, observation)
      const trace = Option.getOrUndefined(Option.map(Option.flatMap(line, readRecord), traceOf))
      if (trace !== undefined) log.trace = joined(log.trace, trace)
    }
    const record = (observation: Observation) => Effect.map(Clock.currentTimeMillis, (now) => keep(now, observation))
    const open = (root: string) =>
      Effect.sync(() => {
        log.root ??= root
      })
    return {
      recorded,
      layer: Layer.scoped(
        ObservationLog,
        Effect.acquireRelease(
          Effect.succeed({ record, open, prune: () => Effect.void, dropped: Effect.succeed(0) }),
          () => record({ event: "runtime.closed" })
        )
      )
    }
  }

  /** Sees what is in memory: never truncated, and without a log that cannot be read. */
  const reader = Layer.effect(
    ObservationReader,
    Effect.gen(function*() {
      const configs = yield* ConfigReader
      const reports = yield* ReportStore
      const traceOfSession = (root: string, id: string): Trace =>
        (written.get(id) ?? []).filter((log) => log.root === root).map((log) => log.trace).reduce(newest, noTrace)
      return {
        snapshot: (root) =>
          Effect.gen(function*() {
            const takenAt = yield* Clock.currentTimeMillis
            const config = yield* Effect.orElseSucceed(configs.read(root), Option.none)
            if (Option.isNone(config)) {
              return { takenAt, workers: [], truncated: false, errors: ["config_unavailable"] } satisfies Snapshot
            }
            const agents = config.value.agents.filter((agent) => !agent.coordinator)
            const saved = yield* reports.read(root, agents.map((agent) => agent.sessionId))
            const workers = agents.map((agent) => ({
              agent,
              report: saved.reports.get(agent.sessionId),
              seen: seenAt(traceOfSession(root, agent.sessionId), takenAt)
            }))
            return { takenAt, workers, truncated: false, errors: [] } satisfies Snapshot
          })
      }
    })
  )

  return { session, reader }
}

/** A new, empty log of a session that nobody else sees. */
export const makeObservationMemory = (): ObservationMemory => makeObservationWorld().session("session")
