import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { TestProject } from "vitest/node"
import * as Records from "./Records.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder of this run for what is published as a team file. */
    readonly configWitness: string
  }
}

/** One folder for a run of all projects; when it ends: what was published, and what came too late for its test file. */
export default (project: TestProject): (() => void) | undefined => {
  if (!project.isRootProject()) return undefined
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pi-intercom-witness-"))
  fs.chmodSync(folder, 0o755)
  project.provide("configWitness", folder)
  return () => {
    const { late, summary } = Records.total(folder)
    fs.rmSync(folder, { recursive: true, force: true })
    if (summary !== undefined) console.log(summary)
    if (late.length === 0) return
    console.error(late.join("\n"))
    process.exitCode = 1
  }
}
