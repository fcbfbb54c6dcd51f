import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import { StateUnusable } from "../../domain/ConfigErrors.ts"
import { maxOwnedMonitorBytes, OwnedMonitor } from "../../domain/OwnedMonitor.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { describe, firstProblem } from "../../domain/Problems.ts"
import { MonitorRecord } from "../../services/MonitorRecord.ts"
import { StateDir } from "../../services/StateDir.ts"
import { orAbsent } from "../Files.ts"
import { nameHash } from "../Hash.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { rename, settle, withTemporary } from "../Writing.ts"

const decode = Schema.decodeUnknownEither(Schema.parseJson(OwnedMonitor))
const encode = Schema.encodeSync(OwnedMonitor)

const invalid = (file: string, detail: string) =>
  new StateUnusable({
    path: file,
    detail,
    mend: "It was not changed. Once this session has no monitor pane, remove it: Intercom then makes a new one."
  })

const readFrom = (file: string, sessionId: SessionId): Effect.Effect<Option.Option<OwnedMonitor>, StateUnusable> =>
  orAbsent(readPrivate(file, maxOwnedMonitorBytes)).pipe(
    Effect.mapError((failed) => failed.reason === "too_large" ? invalid(file, failed.detail) : unusable(failed)),
    Effect.flatMap(
      Effect.transposeMapOption(({ bytes }) =>
        Either.mapLeft(
          decode(Buffer.from(bytes).toString("utf8")),
          (error) => invalid(file, `it is not a record of a monitor pane: ${describe(firstProblem(error))}`)
        )
      )
    ),
    Effect.filterOrFail(
      Option.match({ onNone: () => true, onSome: (record) => record.sessionId === sessionId }),
      () => invalid(file, "it is another session's")
    )
  )

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const fileOf = (root: string, sessionId: SessionId) =>
    Effect.map(state.of(root), (folder) => path.join(folder, `monitor-${nameHash(sessionId)}.json`))

  const read = Effect.fn("MonitorRecord.read")(function*(root: string, sessionId: SessionId) {
    const file = yield* fileOf(root, sessionId)
    return { file, record: yield* readFrom(file, sessionId) }
  })

  const write = Effect.fn("MonitorRecord.write")(function*(root: string, record: OwnedMonitor) {
    const { file } = yield* read(root, record.sessionId)
    const bytes = new TextEncoder().encode(`${JSON.stringify(encode(record), null, 2)}\n`)
    yield* Effect.mapError(withTemporary(file, bytes, 0o600, (temporary) => rename(temporary, file)), unusable)
    yield* settle(path.dirname(file))
  })

  return MonitorRecord.of({ read, write })
})

/** One file a session in the state folder, 0600. What is not such a record is an error, and stays as it is. */
export const layer: Layer.Layer<MonitorRecord, never, StateDir> = Layer.effect(MonitorRecord, make)
