import * as Either from "effect/Either"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs, type ParseArgsConfig } from "node:util"

/** What `pi-intercom-monitor` and `pi-intercom-doctor` are told: the team of `root`, an absolute path, or to end so. */
export type Told =
  | { readonly root: string; readonly json: boolean }
  | { readonly text: string; readonly code: 0 | 2; readonly json: boolean }

/** The program's own words, and what it takes beside `--root` and `--help`. */
export interface Program {
  readonly usage: string
  readonly about: string
  readonly options: NonNullable<ParseArgsConfig["options"]>
}

// What is wrong with them need not be understood: how to call is what the usage says.
const parsed = (args: ReadonlyArray<string>, options: Program["options"]) =>
  Either.try(() =>
    parseArgs({
      args: [...args],
      options: { ...options, root: { type: "string" }, help: { type: "boolean", short: "h" } }
    }).values
  )

/**
 * Reads the arguments of a program that was started in `here`; without `--root` that is the folder, if it has a team. A
 * folder that is named is not looked at: to look may hang.
 */
export const told = ({ about, options, usage }: Program, args: ReadonlyArray<string>, here: string): Told => {
  const values = parsed(args, options)
  const json = args.includes("--json")
  const wrong = (why: string): Told => ({ text: `Nothing was done: ${why}. Usage: ${usage}`, code: 2, json })
  if (Either.isLeft(values)) return wrong("these arguments are not understood")
  if (values.right["help"] === true) return { text: `Usage: ${usage}\n\n${about}`, code: 0, json: false }
  const { root } = values.right
  if (root === "") return wrong("--root names no folder")
  if (typeof root === "string") return { root: resolve(here, root), json }
  return existsSync(join(here, ".pi-intercom/config.json"))
    ? { root: here, json }
    : wrong("there is no team file, .pi-intercom/config.json, in this folder, and --root names no other")
}
