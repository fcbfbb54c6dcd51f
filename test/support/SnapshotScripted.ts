import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentName, Port, SessionId } from "../../src/domain/Primitives.ts"
import type { Seen, Snapshot, WorkerView } from "../../src/domain/Snapshot.ts"
import type { Agent } from "../../src/domain/TeamConfig.ts"
import { ObservationReader } from "../../src/services/ObservationReader.ts"

const unseen: Seen = { observedStatus: "unknown", evidence: "missing", observedAt: undefined, lastActivity: undefined }

/** A worker that nothing is known of, but for what is given. Its session id is its name's. */
export const worker = (
  name: string,
  given: {
    readonly agent?: Partial<Agent>
    readonly seen?: Partial<Seen>
    readonly report?: Pick<NonNullable<WorkerView["report"]>, "status" | "summary" | "updatedAt">
  } = {}
): WorkerView => {
  const sessionId = given.agent?.sessionId ?? SessionId.make(`session-${name}`)
  return {
    agent: {
      name: AgentName.make(name),
      coordinator: false,
      description: "Looks after one part.",
      port: Port.make(20_000),
      projectDirectory: ".",
      ...given.agent,
      sessionId
    },
    report: given.report === undefined ? undefined : { version: 1, sessionId, ...given.report },
    seen: { ...unseen, ...given.seen }
  }
}

/** A view of these workers that could read everything. */
export const snapshot = (
  workers: ReadonlyArray<WorkerView>,
  takenAt: number,
  given: Partial<Snapshot> = {}
): Snapshot => ({ takenAt, workers, truncated: false, errors: [], ...given })

/** Each read is what `read` makes of it. */
export const layer = (read: Effect.Effect<Snapshot>): Layer.Layer<ObservationReader> =>
  Layer.succeed(ObservationReader, { snapshot: () => read })
