import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import * as Records from "./Records.ts"

const hook = path.join(import.meta.dirname, "witness.cjs")
const install: (folder: string) => void = createRequire(import.meta.url)(hook).install
const variables = ["NODE_OPTIONS", "CONFIG_WITNESS"] as const

const set = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

/**
 * From now on notes in `folder` what this process and each Node that it starts publish as a team file, as what they
 * rename or link from the temporary name that the product alone uses (spec 1.4). Answers what undoes that.
 */
export const witness = (folder: string): () => void => {
  const before = variables.map((name) => process.env[name])
  const child = path.join(folder, "hook.cjs")
  fs.writeFileSync(child, `require(${JSON.stringify(hook)}).install(${JSON.stringify(folder)})\n`)
  install(folder)
  set("NODE_OPTIONS", `--require=${child}`)
  set("CONFIG_WITNESS", folder)
  return () => {
    for (const [at, name] of variables.entries()) set(name, before[at])
    const [, outer] = before
    if (outer !== undefined) install(outer)
  }
}

/**
 * What a child must be given that gets an environment of its own, to be witnessed; the others inherit it. A team file that
 * any other process publishes is not judged.
 */
export const witnessed = (): Readonly<Record<string, string>> => {
  const options = process.env["NODE_OPTIONS"]
  return options === undefined ? {} : { NODE_OPTIONS: options }
}

/** What this test file's processes have published as a team file so far. */
export const published = (): ReadonlyArray<Records.Published> => Records.read(process.env["CONFIG_WITNESS"] ?? "")
