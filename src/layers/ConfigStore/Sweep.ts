import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import type { IdentifiedProcess } from "../../domain/IdentifiedProcess.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { attempt, checkTrusted, look, orAbsent } from "../Files.ts"
import { removeNow } from "../Writing.ts"

/** A temporary's name ends with who made it: pid, start, number (spec 1.4). */
const temporaryName = /\.([1-9]\d{0,15})-(\d{1,20})-\d+\.tmp$/

/** A start that its maker could not read: then only its pid is known, and that proves nothing here. */
const noStart = "0"

/**
 * Whose a temporary is. Boot and namespace are not in its name, so they are taken for this process's own: a process of
 * another container in the same project folder is not told from one that has ended. Its update then fails whole.
 */
export const makerOf = (name: string, own: IdentifiedProcess): Option.Option<IdentifiedProcess> => {
  const [, pid, startTicks] = temporaryName.exec(name) ?? []
  if (pid === undefined || startTicks === undefined) return Option.none()
  return Option.some(
    "bootId" in own && startTicks !== noStart ? { ...own, pid: Number(pid), startTicks } : { pid: Number(pid) }
  )
}

/** Removes from `folder` the temporaries of processes that are proven gone; what is not a plain file stays. */
export const sweep = Effect.fn("ConfigStore.sweepFolder")(function*(
  folder: string,
  identity: ProcessIdentity["Type"]
) {
  const found = yield* orAbsent(look(folder))
  if (Option.isNone(found)) return
  yield* checkTrusted(folder, found.value, "folder")
  for (const name of yield* attempt(folder, () => fs.readdirSync(folder))) {
    const maker = makerOf(name, identity.own)
    if (Option.isNone(maker) || (yield* identity.look(maker.value)) !== "gone") continue
    const file = path.join(folder, name)
    const stat = yield* orAbsent(look(file))
    if (Option.isSome(stat) && stat.value.isFile()) yield* removeNow(file)
  }
})
