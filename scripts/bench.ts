import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Figures } from "./bench/Measure.ts"
import { workspace } from "./bench/Workspace.ts"

/** Measures in a folder of its own. */
type Measurement = (folder: string) => Effect.Effect<Figures, Error, Scope.Scope>

/** Loaded when asked for: each brings what it measures. */
const groups = {
  send: (): Promise<{ figures: Measurement }> => import("./bench/Send.ts"),
  config: (): Promise<{ figures: Measurement }> => import("./bench/Config.ts"),
  close: (): Promise<{ figures: Measurement }> => import("./bench/Close.ts"),
  monitor: (): Promise<{ figures: Measurement }> => import("./bench/Monitor.ts"),
  load: (): Promise<{ figures: Measurement }> => import("./bench/Load.ts"),
  tokens: (): Promise<{ figures: Measurement }> => import("./bench/Tokens.ts")
} as const

type Group = keyof typeof groups
const isGroup = (name: string): name is Group => Object.hasOwn(groups, name)
const names = Object.keys(groups).filter(isGroup)

/** The groups that the command line asks for; else the sentence that says what is wrong with it. */
const chosen = (args: ReadonlyArray<string>): ReadonlyArray<Group> | string => {
  if (args.length === 0) return names
  const [option, list = ""] = args
  if (option !== "--only" || args.length > 2) return "Usage: npm run -s bench [-- --only <group>,<group>]."
  const wanted = list.split(",")
  const unknown = wanted.find((name) => !isGroup(name))
  return unknown === undefined
    ? wanted.filter(isGroup)
    : `There is no group ${JSON.stringify(unknown)}; the groups are ${names.join(", ")}.`
}

/** This process, its children and the Pis it starts know nothing of the session that the bench is started in. */
const isolate = (folder: string): void => {
  for (const name of Object.keys(process.env)) if (/^(PI_|TMUX|HERDR_)/.test(name)) delete process.env[name]
  process.env["PI_INTERCOM_STATE_DIR"] = join(folder, "state")
  process.env["TMPDIR"] = folder
}

const bench = (wanted: ReadonlyArray<Group>) =>
  Effect.gen(function*() {
    const folder = yield* workspace
    isolate(folder)
    const parts = yield* Effect.forEach(wanted, (name) =>
      Effect.gen(function*() {
        const own = join(folder, name)
        mkdirSync(own)
        const { figures } = yield* Effect.promise(groups[name])
        return yield* figures(own)
      }).pipe(Effect.scoped))
    yield* Console.log(JSON.stringify(Object.assign({}, ...parts), null, 2))
  }).pipe(
    Effect.scoped,
    // stdout is for the one JSON object.
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger)))
  )

const wanted = chosen(process.argv.slice(2))
if (typeof wanted === "string") {
  console.error(wanted)
  process.exitCode = 2
} else NodeRuntime.runMain(bench(wanted), { disablePrettyLogger: true })
