import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { join } from "node:path"
import { type ObservationRecord, readRecord } from "../../../src/domain/Observation.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as Ids from "../../../src/layers/Ids/Node.ts"
import * as File from "../../../src/layers/ObservationLog/File.ts"
import { ObservationLog } from "../../../src/services/ObservationLog.ts"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

/** A root with the folder of a team, on disk. */
export const place = Effect.map(temporaryFolder, (root) => {
  fs.mkdirSync(join(root, ".pi-intercom"))
  return { root, folder: join(root, ".pi-intercom"), logs: join(root, ".pi-intercom", "logs") }
})

/** A session's writer; closing its scope is the session's end. */
export const writer = (sessionId: string) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
    const layer = File.layer(SessionId.make(sessionId)).pipe(Layer.provide(Ids.layer))
    const log = Context.get(yield* Layer.buildWithScope(layer, scope), ObservationLog)
    return { log, close: (exit: Parameters<typeof Scope.close>[1]) => Scope.close(scope, exit) }
  })

/** The names in a log folder; none while there is none. */
export const names = (logs: string): ReadonlyArray<string> => fs.existsSync(logs) ? fs.readdirSync(logs).sort() : []

/** Every record in a file; each of its lines must be one. */
export const recordsIn = (file: string): ReadonlyArray<ObservationRecord> =>
  fs.readFileSync(file, "utf8").split("\n").slice(0, -1).map((line) => Option.getOrThrow(readRecord(line)))

/** Every record in a folder, once there are `count`. */
export const recorded = (logs: string, count: number) => {
  const all = () => names(logs).flatMap((name) => recordsIn(join(logs, name)))
  return eventually(
    `${count} records`,
    Effect.sync(() => Option.liftPredicate(all(), (records) => records.length >= count))
  )
}
