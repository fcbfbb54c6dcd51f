import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { buildFiles } from "../../scripts/build.ts"

/** Once in a process, of the sources as they are: no test depends on what `dist/` happens to hold. */
const files = Effect.runSync(Effect.cached(Effect.promise(buildFiles)))

/** Writes the built extension into a folder that exists and answers the file that Pi loads. */
export const writeBuild = (folder: string): Effect.Effect<string> =>
  Effect.map(files, (built) => {
    for (const { contents, name } of built) fs.writeFileSync(path.join(folder, name), contents)
    return path.join(folder, "extension.js")
  })

/** The built extension in a folder that goes when the process exits by itself (a worker of vitest does not). */
export const builtEntry: Effect.Effect<string> = Effect.suspend(() => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "pi-intercom-built-")))
  process.once("exit", () => fs.rmSync(folder, { recursive: true, force: true }))
  return writeBuild(folder)
})
