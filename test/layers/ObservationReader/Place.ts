import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { join } from "node:path"
import { type Observation, recordLine } from "../../../src/domain/Observation.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { encodeConfig } from "../../../src/domain/TeamConfig.ts"
import * as ConfigReader from "../../../src/layers/ConfigReader/File.ts"
import * as Reader from "../../../src/layers/ObservationReader/File.ts"
import * as Reports from "../../../src/layers/ReportStore/File.ts"
import { ObservationReader } from "../../../src/services/ObservationReader.ts"
import { ReportStore } from "../../../src/services/ReportStore.ts"
import { decoded } from "../../support/TeamArbitrary.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { writer } from "../ObservationLog/Place.ts"

/** A team file with a coordinator and these workers; each session id is also the name. */
export const teamOf = (ids: ReadonlyArray<string>, change: (agent: object) => object = (agent) => agent) =>
  decoded(JSON.stringify({
    version: 1,
    multiplexer: "none",
    agents: [
      ["chief", "Coordinator"] as const,
      ...ids.map((id) => [id, `Worker ${id}`] as const)
    ].map(([sessionId, name], index) => {
      const agent = {
        sessionId,
        name,
        coordinator: index === 0,
        description: "Works.",
        port: 41_000,
        projectDirectory: "."
      }
      return index === 0 ? agent : change(agent)
    })
  }))

/** A reader that remembers nothing yet, with the report store that it reads. */
export const readers = Effect.map(
  Layer.build(Reader.layer.pipe(Layer.provideMerge(Layer.merge(ConfigReader.layer, Reports.layer)))),
  (built) => ({ reader: Context.get(built, ObservationReader), reports: Context.get(built, ReportStore) })
)

/** A team on disk, with a folder for logs. */
export const diskTeam = (ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const base = yield* temporaryFolder
    const root = join(base, "team")
    const logs = join(root, ".pi-intercom", "logs")
    fs.mkdirSync(logs, { recursive: true, mode: 0o700 })
    fs.writeFileSync(join(root, ".pi-intercom", "config.json"), encodeConfig(teamOf(ids)))
    return { base, root, logs, ...(yield* readers) }
  })

/** The disk of {@link Contract}. */
export const place = Effect.gen(function*() {
  const team = yield* diskTeam(["ada", "ben", "cleo"])
  fs.rmdirSync(team.logs)
  return {
    ...team,
    nowhere: team.base,
    session: (id: string) => Effect.map(writer(id), ({ close, log }) => ({ log, close: close(Exit.void) }))
  }
})

/** A writer's id that says which one it is. */
export const writerId = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`
/** The file that a writer appends to. */
export const logFile = (logs: string, n: number, end = ""): string => join(logs, `writer-${writerId(n)}.jsonl${end}`)

/** The lines of what a session observed, one each second up to `last`, ms since the epoch. */
export const lines = (
  sessionId: string,
  observations: ReadonlyArray<Observation>,
  last: number,
  n = 1
): ReadonlyArray<string> =>
  observations.map((observation, index) => {
    const at = new Date(last - (observations.length - 1 - index) * 1000).toISOString()
    const head = { timestamp: at, writerId: writerId(n), sessionId: SessionId.make(sessionId) }
    const line = recordLine(head, observation)
    return line._tag === "Some" ? line.value : ""
  })

export const reading: Observation = { event: "host.activity", busy: true, phase: "tool", detail: "reading_files" }
export const working: Observation = { event: "host.activity", busy: true, phase: "working", detail: "processing" }
export const idle: Observation = { event: "host.activity", busy: false, phase: "idle", detail: "settled" }
export const sent: Observation = { event: "transport.send", kind: "message", peerSessionId: "chief" }
