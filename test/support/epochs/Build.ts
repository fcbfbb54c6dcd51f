import * as Effect from "effect/Effect"
import { build } from "esbuild"
import * as fs from "node:fs"
import * as path from "node:path"

/** Writes the probe into a folder that exists, built as our extension is, and answers the file that Pi loads. */
export const writeProbe = (folder: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const entry = path.join(folder, "probe.js")
    await build({
      entryPoints: [path.join(import.meta.dirname, "Probe.ts")],
      outfile: path.join(folder, "probe-core.cjs"),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      logLevel: "warning"
    })
    fs.writeFileSync(
      entry,
      `import { createRequire } from "node:module"
       export default (pi) => createRequire(import.meta.url)("./probe-core.cjs").activate(pi)`
    )
    return entry
  })
