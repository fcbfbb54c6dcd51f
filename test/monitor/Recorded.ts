import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { workerId } from "../../scripts/bench/Team.ts"
import type { Activity } from "../../src/domain/Activity.ts"
import { isBusy } from "../../src/domain/Activity.ts"
import { logName } from "../../src/domain/LogFiles.ts"
import { recordLine } from "../../src/domain/Observation.ts"
import type { ReportStatus } from "../../src/domain/Report.ts"
import * as IntercomServerHttp from "../../src/layers/IntercomServer/Http.ts"
import * as PlatformNode from "../../src/layers/Platform/Node.ts"
import * as ReportStoreFile from "../../src/layers/ReportStore/File.ts"
import * as SecretsFile from "../../src/layers/Secrets/File.ts"
import * as StateDirFile from "../../src/layers/StateDir/File.ts"
import { IntercomServer } from "../../src/services/IntercomServer.ts"
import { ReportStore } from "../../src/services/ReportStore.ts"
import { Secrets } from "../../src/services/Secrets.ts"

/** What sessions of a root have left on disk, written as they write it. */

/** The coordinator has saved this report of a worker. */
export const report = (root: string, n: number, status: ReportStatus, summary: string) =>
  Effect.flatMap(
    ReportStore,
    (store) =>
      store.save(root, { version: 1, sessionId: workerId(n), status, summary, updatedAt: new Date().toISOString() })
  ).pipe(
    Effect.provide(ReportStoreFile.layer)
  )

/** A worker has started a session and was seen to do this, so long ago. */
export const activity = (root: string, n: number, doing: Activity, agoMs: number): void => {
  const folder = path.join(root, ".pi-intercom/logs")
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const writerId = randomUUID()
  const head = { writerId, sessionId: workerId(n), timestamp: new Date(Date.now() - agoMs).toISOString() }
  const line = recordLine(head, { event: "host.activity", busy: isBusy(doing), ...doing })
  fs.writeFileSync(path.join(folder, logName(writerId)), Option.getOrThrow(line), { mode: 0o600 })
}

/** A session of this team that listens and proves itself, until the scope ends; answers its port. */
export const listening = (root: string, state: string, n: number) =>
  Effect.gen(function*() {
    const key = yield* (yield* Secrets).key(root)
    return yield* (yield* IntercomServer).listen(Option.none(), {
      sessionId: workerId(n),
      open: Effect.succeed(true),
      key: Effect.succeedSome(key),
      allowUnauthenticated: false,
      receive: (_envelope, _signed, commit) => commit(Effect.void)
    })
  }).pipe(
    Effect.provide(
      Layer.merge(
        IntercomServerHttp.layer,
        SecretsFile.layer.pipe(Layer.provide(StateDirFile.layer), Layer.provide(PlatformNode.layer))
      )
    ),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]])))
  )
