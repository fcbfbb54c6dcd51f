import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../../support/TempFolder.ts"
import type { Place } from "./Contract.ts"
import { fileLayer } from "./Sessions.ts"

/** A root on disk, as the contract describes it, with its `.pi-intercom` and the team file in it. */
export interface Disk extends Place {
  readonly folder: string
  readonly file: string
  /** The state folder's base. */
  readonly state: string
  /** Removes `.pi-intercom` with everything in it. */
  readonly remove: Effect.Effect<void>
}

/** A new root in a temporary folder. */
export const disk: Effect.Effect<Disk, never, Scope.Scope> = Effect.map(temporaryFolder, (parent) => {
  const root = join(parent, "team")
  const folder = join(root, ".pi-intercom")
  const file = join(folder, "config.json")
  const state = join(parent, "state")
  fs.mkdirSync(join(root, "api", "inner"), { recursive: true })
  fs.mkdirSync(join(parent, "beside"))
  fs.symlinkSync("api", join(root, "inside"))
  fs.symlinkSync("../beside", join(root, "outside"))
  fs.writeFileSync(join(root, "file"), "")
  return {
    layer: fileLayer(state),
    root,
    folder,
    file,
    state,
    remove: Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true })),
    write: (text) =>
      Effect.sync(() => {
        fs.mkdirSync(folder, { recursive: true })
        fs.writeFileSync(file, text)
      }),
    text: Effect.sync(() => fs.existsSync(file) ? Option.some(fs.readFileSync(file, "utf8")) : Option.none())
  }
})
