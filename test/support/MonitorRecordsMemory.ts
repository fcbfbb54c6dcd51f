import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { StateUnusable } from "../../src/domain/ConfigErrors.ts"
import type { OwnedMonitor } from "../../src/domain/OwnedMonitor.ts"
import { MonitorRecord } from "../../src/services/MonitorRecord.ts"

/** The monitor records of a machine in memory, by root and session; `written` are all of them in order. */
export const makeMonitorRecords = () => {
  const files = new Map<string, OwnedMonitor>()
  const written: Array<OwnedMonitor> = []
  /** The write that fails from now on, counted from 1. */
  const failing: { write: number | undefined } = { write: undefined }
  const fileOf = (root: string, sessionId: string) => `${root}/monitor-${sessionId}.json`
  const layer = Layer.succeed(MonitorRecord, {
    read: (root, sessionId) =>
      Effect.sync(() => {
        const file = fileOf(root, sessionId)
        return { file, record: Option.fromNullable(files.get(file)) }
      }),
    write: (root, record) =>
      Effect.suspend(() => {
        const file = fileOf(root, record.sessionId)
        if (failing.write === written.length + 1) {
          return new StateUnusable({ path: file, detail: "the disk is full", mend: "Make room." })
        }
        files.set(file, record)
        written.push(record)
        return Effect.void
      })
  })
  return { files, written, failing, layer }
}
