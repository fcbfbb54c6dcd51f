import * as fs from "node:fs"
import * as path from "node:path"
import { fieldsOf, findings } from "./Public.ts"

/** A text that a process published, and the one that it replaced. */
export interface Published {
  readonly program: string
  readonly pid: number
  readonly before: string | undefined
  readonly after: string
}

const parse = (line: string): Published => {
  const { after, before, pid, program } = fieldsOf(JSON.parse(line))
  return {
    program: String(program),
    pid: Number(pid),
    before: typeof before === "string" ? before : undefined,
    after: String(after)
  }
}

/** What the processes of a folder published; the torn last line of one that was killed was not published any more. */
export const read = (folder: string): ReadonlyArray<Published> =>
  fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl")).flatMap((name) =>
    fs.readFileSync(path.join(folder, name), "utf8").split("\n").slice(0, -1).map(parse)
  )

/**
 * What they published that is not public. What the replaced text said already at the same place was put there by somebody
 * else, or was found when it was published: unknown fields of other versions are kept (spec 1.1).
 */
export const judge = (published: ReadonlyArray<Published>): ReadonlyArray<string> =>
  published.flatMap(({ after, before, program, pid }) => {
    const found = findings(after)
    if (found.length === 0) return []
    const already = new Set(before === undefined ? [] : findings(before))
    return found.flatMap((one) => already.has(one) ? [] : [`${program} (${pid}) published ${one}`])
  })

/** What a test file's processes published, by program. */
type Counts = Readonly<Record<string, number>>

const countsFile = "counts"
const countsOf = (published: ReadonlyArray<Published>): Counts => {
  const counts: Record<string, number> = {}
  for (const { program } of published) counts[program] = (counts[program] ?? 0) + 1
  return counts
}

/** Judges and forgets what a test file's processes published; fails with what is not public. */
export const settle = (folder: string, test: string): void => {
  const published = read(folder)
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(".jsonl")) fs.rmSync(path.join(folder, name))
  }
  fs.writeFileSync(path.join(folder, countsFile), JSON.stringify(countsOf(published)))
  const problems = judge(published)
  if (problems.length > 0) throw new Error([`${test}: a team file is not public`, ...problems].join("\n"))
}

/** What all test files of a run published and judged, in one line if any did; and what came too late to be judged. */
export const total = (run: string): { readonly summary: string | undefined; readonly late: ReadonlyArray<string> } => {
  const folders = fs.readdirSync(run).map((name) => path.join(run, name))
  const counts: Record<string, number> = {}
  let files = 0
  for (const folder of folders) {
    const file = path.join(folder, countsFile)
    const of = Object.entries(fs.existsSync(file) ? fieldsOf(JSON.parse(fs.readFileSync(file, "utf8"))) : {})
    if (of.length > 0) files += 1
    for (const [program, count] of of) counts[program] = (counts[program] ?? 0) + Number(count)
  }
  const sum = Object.values(counts).reduce((one, other) => one + other, 0)
  const by = Object.entries(counts).map(([program, count]) => `${count} by ${program}`).join(", ")
  return {
    summary: sum === 0 ? undefined : `team files judged: ${sum}, published in ${files} test files (${by})`,
    late: folders.flatMap(read).map(({ program, pid }) => `${program} (${pid}) published a team file after its test`)
  }
}
