import * as Either from "effect/Either"
import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs, type ParseArgsConfig } from "node:util"

/** What `pi-intercom-monitor` and `pi-intercom-doctor` are told on the command line. */

/** Look at the team of `root`, an absolute path, or print `text` and end with `code`. */
export type Told =
  | { readonly root: string; readonly json: boolean }
  | { readonly text: string; readonly code: 0 | 2; readonly json: boolean }

/** The program's own words, and what it takes beside `--root` and `--help`. */
export interface Program {
  readonly usage: string
  readonly about: string
  readonly options: NonNullable<ParseArgsConfig["options"]>
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

// What is wrong with them need not be understood: how to call is what the usage says.
const parsed = (args: ReadonlyArray<string>, options: Program["options"]) =>
  Either.try(() =>
    parseArgs({
      args: [...args],
      options: { ...options, root: { type: "string" }, help: { type: "boolean", short: "h" } }
    }).values
  )

/** Reads the arguments of a program that was started in `here`; without `--root` that is the folder, if it has a team. */
export const told = ({ about, options, usage }: Program, args: ReadonlyArray<string>, here: string): Told => {
  const values = parsed(args, options)
  const json = args.includes("--json")
  const wrong = (why: string): Told => ({ text: `Nothing was done: ${why}. Usage: ${usage}`, code: 2, json })
  if (Either.isLeft(values)) return wrong("these arguments are not understood")
  if (values.right["help"] === true) return { text: `Usage: ${usage}\n\n${about}`, code: 0, json: false }
  const { root } = values.right
  if (typeof root !== "string") {
    return existsSync(join(here, ".pi-intercom/config.json"))
      ? { root: here, json }
      : wrong("there is no team file, .pi-intercom/config.json, in this folder, and --root names no other")
  }
  const folder = resolve(here, root)
  return root !== "" && isFolder(folder)
    ? { root: folder, json }
    : wrong(`--root ${JSON.stringify(root)} is not a folder`)
}
