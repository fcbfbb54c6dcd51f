import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, inject } from "vitest"
import * as Records from "./Records.ts"
import { witness } from "./Witnessed.ts"

/**
 * For each test file: what this process and each Node below it publishes as a team file is noted, and judged when the
 * file's tests and everything they started have ended (spec 1: it never says a pane, a tty, a process, a saved session).
 */
const folder = fs.mkdtempSync(path.join(inject("configWitness"), "file-"))
// Tests start children as other users too.
fs.chmodSync(folder, 0o755)
const forget = witness(folder)

afterAll(({ file: { name } }) => {
  forget()
  Records.settle(folder, name)
})
