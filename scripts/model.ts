import { check } from "../test/support/model/Check.ts"

const argument = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const runs = argument("runs", 5000)
const { reports, tally, violations } = check(runs, argument("seed", 1))
for (const report of reports) console.log(`${report}\n`)
for (const [key, count] of [...tally].sort()) console.log(`${String(count).padStart(9)} ${key}`)
console.log(`runs: ${runs}, violations: ${violations}`)
