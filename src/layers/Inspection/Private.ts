import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import type { StateUnusable } from "../../domain/ConfigErrors.ts"
import type { SeenLock, Trouble } from "../../domain/Inspected.ts"
import { maxOwnedMonitorBytes, OwnedMonitor } from "../../domain/OwnedMonitor.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import type { StateDir } from "../../services/StateDir.ts"
import {
  attempt,
  checkPrivate,
  checkTrusted,
  type FileFailed,
  look,
  lookNow,
  orAbsent,
  orAbsentNow,
  realPath
} from "../Files.ts"
import { nameHash } from "../Hash.ts"
import { readLock } from "../OwnedLock/File.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { readLedger } from "../ProcessLedger/File.ts"
import { checkLength, secretBytes } from "../Secrets/File.ts"

/** What lies in a root's folder of the state directory, looked at and never made. */

const lockName = /^(?:config|monitor|session-[0-9a-f]{24})\.lock(?:\.takeover)?$/
const monitorName = /^monitor-[0-9a-f]{24}\.json$/

const decodeMonitor = Schema.decodeUnknownOption(Schema.parseJson(OwnedMonitor))

/** What fails becomes a trouble of that place; what is absent is none. */
export const troublesOf = (
  place: Trouble["place"],
  checked: Effect.Effect<unknown, FileFailed | StateUnusable>
): Effect.Effect<ReadonlyArray<Trouble>> =>
  Effect.match(checked, {
    onSuccess: () => [],
    onFailure: (failed) => {
      if (failed._tag === "FileFailed" && failed.reason === "absent") return []
      const { detail, mend, path } = failed._tag === "FileFailed" ? unusable(failed) : failed
      return [{ place, path, detail, mend }]
    }
  })

/** The state directory, and the folder of a root in it once that can be believed; none while there is none. */
export const findState = Effect.fn("Inspection.findState")(function*(state: StateDir["Type"], root: string) {
  const base = yield* state.base
  const folder = path.join(base, nameHash(yield* realPath(root)))
  for (const [entry, check] of [[base, checkTrusted], [folder, checkPrivate]] as const) {
    const found = yield* orAbsent(look(entry))
    if (Option.isNone(found)) return { base, folder: Option.none<string>() }
    yield* check(entry, found.value, "folder")
  }
  yield* attempt(folder, () => fs.accessSync(folder, fs.constants.W_OK))
  return { base, folder: Option.some(folder) }
})

/** The locks among these files. */
export const locksIn = Effect.fnUntraced(function*(files: ReadonlyArray<string>, identity: ProcessIdentity["Type"]) {
  const [locks, troubles]: [Array<SeenLock>, Array<Trouble>] = [[], []]
  for (const file of files.filter((one) => lockName.test(path.basename(one)))) {
    const takeover = file.endsWith(".takeover")
    const read = yield* Effect.either(readLock(file))
    if (Either.isLeft(read)) troubles.push(...(yield* troublesOf("state", read.left)))
    else if (read.right._tag === "Foreign") locks.push({ file, takeover, owner: "unreadable", pid: undefined })
    else if (read.right._tag === "Owned") {
      const { owner } = read.right
      locks.push({ file, takeover, owner: yield* identity.look(owner), pid: owner.pid })
    }
  }
  return { locks, troubles }
})

/** The records of monitor panes among these files. */
export const monitorsIn = Effect.fnUntraced(function*(files: ReadonlyArray<string>) {
  const [unfinished, troubles]: [Array<string>, Array<Trouble>] = [[], []]
  for (const file of files.filter((one) => monitorName.test(path.basename(one)))) {
    const read = yield* Effect.either(readPrivate(file, maxOwnedMonitorBytes))
    if (Either.isLeft(read)) {
      troubles.push(...(yield* troublesOf("record", read.left)))
      continue
    }
    const record = decodeMonitor(Buffer.from(read.right.bytes).toString("utf8"))
    if (Option.isSome(record)) {
      if (record.value.stage === "creating") unfinished.push(file)
      continue
    }
    troubles.push({
      place: "record",
      path: file,
      detail: "it is not a record of a monitor pane",
      mend: "Once the coordinator has no monitor pane, remove it: Intercom then makes a new one."
    })
  }
  return { unfinished, troubles }
})

/** The ledger of a folder, if it can be used. */
export const ledgerIn = Effect.fnUntraced(function*(folder: string) {
  const read = yield* Effect.either(readLedger(path.join(folder, "processes.json")))
  return Either.isRight(read)
    ? { ledger: read.right, troubles: [] }
    : { ledger: undefined, troubles: yield* troublesOf("record", read.left) }
})

const secretOf = (folder: string): string => path.join(folder, "secret")

/** Whether anything is in the place of a folder's secret. */
export const hasSecret = (folder: string): boolean => {
  const found = orAbsentNow(lookNow(secretOf(folder)))
  return Either.isLeft(found) || Option.isSome(found.right)
}

/** What is wrong with the secret of a folder. */
export const secretTroubles = (folder: string) => {
  const file = secretOf(folder)
  return troublesOf("secret", Effect.flatMap(readPrivate(file, secretBytes), ({ bytes }) => checkLength(file, bytes)))
}

/** What is wrong with the folder of launch scripts. */
export const launchTroubles = (launch: string) =>
  troublesOf("state", Effect.flatMap(look(launch), (stat) => checkPrivate(launch, stat, "folder")))
