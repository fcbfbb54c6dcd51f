import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Inspected, Trouble } from "../../domain/Inspected.ts"
import { logPart } from "../../domain/LogFiles.ts"
import { Inspection } from "../../services/Inspection.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { StateDir } from "../../services/StateDir.ts"
import { folderOf } from "../ConfigReader/TeamFile.ts"
import { makerOf } from "../ConfigStore/Sweep.ts"
import { attempt, attemptNow, checkOwn, checkTrusted, type FileFailed, look, lookNow } from "../Files.ts"
import { listNow, logsOf } from "../ObservationLog/Folder.ts"
import {
  findState,
  hasSecret,
  launchTroubles,
  ledgerIn,
  locksIn,
  monitorsIn,
  secretTroubles,
  troublesOf
} from "./Private.ts"

const maxEntries = 4096
/** A script removes itself when its tab starts. */
const startsWithinMs = 60_000

const mendFolder = (failed: FileFailed): string =>
  failed.reason === "open_to_all"
    ? "Run chmod o-w on it, then /reload in the sessions that are open."
    : failed.reason === "failed"
    ? "Make it readable and writable for you (chmod u+rwx), then run /reload in the sessions that are open."
    : "Remove it, then run /reload in the sessions that are open: they make their own."

/** A folder in the project that sessions make by themselves. */
const projectTroubles = (place: Trouble["place"], folder: string): Effect.Effect<ReadonlyArray<Trouble>> =>
  look(folder).pipe(
    Effect.flatMap((stat) => checkTrusted(folder, stat, "folder")),
    Effect.zipRight(attempt(folder, () => fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK))),
    Effect.match({
      onSuccess: () => [],
      onFailure: (failed) =>
        failed.reason === "absent" ? [] : [{ place, path: folder, detail: failed.detail, mend: mendFolder(failed) }]
    })
  )

/** The files in a folder that can be believed; none otherwise. */
const filesIn = (folder: string): { readonly files: ReadonlyArray<string>; readonly more: boolean } =>
  lookNow(folder).pipe(
    Either.flatMap((stat) => checkTrusted(folder, stat, "folder")),
    Either.flatMap(() => listNow(folder, maxEntries)),
    Either.match({
      onLeft: () => ({ files: [], more: false }),
      onRight: ({ more, names }) => ({ files: names.map((name) => path.join(folder, name)), more })
    })
  )

/** Logs that the reader refuses, or is refused. */
const logTroubles = (files: ReadonlyArray<string>): ReadonlyArray<Trouble> =>
  files.filter((file) => logPart(path.basename(file)) !== undefined).flatMap((file) =>
    lookNow(file).pipe(
      Either.flatMap((stat) => checkOwn(file, stat, "file")),
      Either.flatMap(() => attemptNow(file, () => fs.accessSync(file, fs.constants.R_OK))),
      Either.match({
        onRight: () => [],
        onLeft: ({ detail, reason }) =>
          reason === "absent" ? [] : [{
            place: "logs" as const,
            path: file,
            detail,
            mend: reason === "failed" ? "Make it readable for you (chmod u+r)." : "Remove it: no session needs it."
          }]
      })
    )
  )

const isOldScript = (file: string, now: number): boolean => {
  const stat = file.endsWith(".sh") ? Option.getRight(lookNow(file)) : Option.none()
  return Option.exists(stat, (one) => one.isFile() && Math.abs(now - Number(one.mtimeMs)) > startsWithinMs)
}

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const identity = yield* ProcessIdentity

  const temporary = Effect.fnUntraced(function*(file: string) {
    const maker = makerOf(path.basename(file), identity.own)
    if (Option.isNone(maker)) return []
    const liveness = yield* identity.look(maker.value)
    const there = Option.exists(Option.getRight(lookNow(file)), (stat) => stat.isFile())
    return liveness === "alive" || !there ? [] : [{ file, maker: liveness }]
  })

  const lookAt = Effect.fn("Inspection.look")(function*(root: string) {
    const now = yield* Clock.currentTimeMillis
    const [ours, logs] = [folderOf(root), logsOf(root)]
    const reports = path.join(ours, "reports")
    const found = yield* Effect.either(findState(state, root))
    const folder = Option.flatMap(Option.getRight(found), (one) => one.folder)
    const launch = Option.map(folder, (one) => path.join(one, "launch"))

    const kept = Option.match(folder, { onNone: () => ({ files: [], more: false }), onSome: filesIn })
    const scripts = Option.match(launch, { onNone: () => ({ files: [], more: false }), onSome: filesIn })
    const project = [filesIn(ours), filesIn(reports)]
    const all = [...project, kept, scripts]
    const written = filesIn(logs)

    const locks = yield* locksIn(kept.files, identity)
    const monitors = yield* monitorsIn(kept.files)
    const ledger = Option.isNone(folder) ? { ledger: undefined, troubles: [] } : yield* ledgerIn(folder.value)
    const inspected: Inspected = {
      nothingIn: Either.isRight(found) && !Option.exists(folder, hasSecret) ? found.right.base : undefined,
      troubles: [
        ...(Either.isLeft(found) ? yield* troublesOf("state", found.left) : []),
        ...(Option.isSome(folder) ? yield* secretTroubles(folder.value) : []),
        ...(Option.isSome(launch) ? yield* launchTroubles(launch.value) : []),
        ...locks.troubles,
        ...ledger.troubles,
        ...monitors.troubles,
        ...(yield* projectTroubles("logs", logs)),
        ...logTroubles(written.files),
        ...(yield* projectTroubles("reports", reports))
      ],
      locks: locks.locks,
      temporaries: (yield* Effect.forEach(all.flatMap(({ files }) => files), temporary)).flat(),
      scripts: scripts.files.filter((file) => isOldScript(file, now)),
      unfinishedMonitors: monitors.unfinished,
      ledger: ledger.ledger,
      truncated: [...all, written].some(({ more }) => more)
    }
    return inspected
  })

  return Inspection.of({ look: lookAt })
})

/** The folders of a team in its project and in the state directory. */
export const layer: Layer.Layer<Inspection, never, StateDir | ProcessIdentity> = Layer.effect(Inspection, make)
