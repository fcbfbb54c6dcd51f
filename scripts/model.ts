import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { check, firstViolation } from "../test/support/model/Check.ts"
import { tryMutants } from "./mutants.ts"

// Generated schedules of the close protocol: npm run model -- --runs 200000 --seed 1 --jobs 2

const argument = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const runs = argument("runs", 5000)
const seed = argument("seed", 1)
const jobs = argument("jobs", 1)
/** Each batch of a part has a seed of its own: the parts' seeds lie further apart than any has batches. */
const apart = 1_000_000

interface Part {
  readonly violations: number
  readonly tally: ReadonlyArray<readonly [string, number]>
  readonly reports: ReadonlyArray<string>
}

const part = async (index: number): Promise<Part> => {
  const own = Math.floor(runs / jobs) + (index < runs % jobs ? 1 : 0)
  const child = spawn(process.execPath, [
    "--max-semi-space-size=32",
    fileURLToPath(import.meta.url),
    ...["--part", "--runs", String(own), "--seed", String(seed + index * apart)]
  ], { stdio: ["ignore", "pipe", "inherit"] })
  const [output] = await Promise.all([text(child.stdout), once(child, "close")])
  // Whatever the programs log is written above.
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "")
}

if (process.argv.includes("--part")) {
  const { reports, tally, violations } = check(runs, seed)
  console.log(JSON.stringify({ violations, tally: [...tally], reports }))
} else if (process.argv.includes("--first")) {
  console.log(firstViolation(runs, seed) ?? "")
} else if (process.argv.includes("--mutants")) {
  const at = process.argv.indexOf("--only")
  if (!tryMutants(new RegExp(at < 0 ? "" : process.argv[at + 1] ?? ""))) process.exitCode = 1
} else {
  const parts = await Promise.all(Array.from({ length: jobs }, (_, index) => part(index)))
  const tally = new Map<string, number>()
  for (const [key, count] of parts.flatMap((one) => one.tally)) tally.set(key, (tally.get(key) ?? 0) + count)
  for (const report of parts.flatMap(({ reports }) => reports)) console.log(`${report}\n`)
  for (const [key, count] of [...tally].sort()) console.log(`${String(count).padStart(9)} ${key}`)
  const violations = parts.reduce((sum, one) => sum + one.violations, 0)
  console.log(`runs: ${runs}, violations: ${violations}`)
  if (violations > 0) process.exitCode = 1
}
