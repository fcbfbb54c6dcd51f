import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { type Mutant, mutants } from "../test/support/model/Mutants.ts"

// Each breakage in a copy of the source: what catches it? npm run model -- --mutants [--only <pattern of names>]

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const runs = 1500

const broken = ({ change, file, name }: Mutant): string =>
  change.reduce((text, [find, put]) => {
    if (text.split(find).length !== 2) throw new Error(`"${name}": the text is not there exactly once: ${find}`)
    return text.replace(find, () => put)
  }, fs.readFileSync(path.join(root, file), "utf8"))

const run = (folder: string, args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 600_000 })

/** What catches the breakage, first the model and then the tests that are named. */
const caughtBy = (folder: string, { tests = [] }: Mutant): string | undefined => {
  const model = run(folder, ["scripts/model.ts", "--first", "--runs", String(runs)]).stdout.trim()
  if (model !== "") return `the model, ${model}`
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs")
  const failing = tests.filter((file) => run(folder, [vitest, "run", file]).status !== 0)
  return failing.length === 0 ? undefined : failing.join(", ")
}

/** Tries each breakage; true when all were caught. */
export const tryMutants = (only: RegExp): boolean => {
  const chosen = mutants.filter(({ name }) => only.test(name))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mutants-"))
  try {
    for (const part of ["src", "test", "scripts", "package.json", "tsconfig.json", "vitest.config.ts"]) {
      fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
    }
    fs.symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"))
    let missed = 0
    for (const mutant of chosen) {
      const file = path.join(folder, mutant.file)
      fs.writeFileSync(file, broken(mutant))
      const by = caughtBy(folder, mutant)
      fs.copyFileSync(path.join(root, mutant.file), file)
      if (by === undefined) missed += 1
      console.log(`${mutant.name}: ${by ?? "SURVIVED"}`)
    }
    console.log(`mutants: ${chosen.length}, survived: ${missed}`)
    return missed === 0
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
