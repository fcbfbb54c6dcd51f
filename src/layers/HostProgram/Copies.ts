import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { isToolName } from "../../domain/ToolCatalogue.ts"
import { Copies, type Copy } from "../../services/Copies.ts"
import * as Files from "../Files.ts"

/** Which copies of this extension Pi has loaded, or would load, and how each is taken out of it. */

/** Where an extension came from, as Pi says it of commands and of what it would load. */
interface Origin {
  readonly source: string
  readonly scope: "user" | "project" | "temporary"
  readonly origin: "package" | "top-level"
}

/** The parts of Pi's settings that decide whether it loads a project's extensions. */
export interface Settings {
  readonly getDefaultProjectTrust: () => "ask" | "always" | "never"
}

/** What an extension that Pi has loaded registered. */
interface Registered {
  readonly name: string
  readonly sourceInfo: Origin & { readonly path: string }
}

interface Command extends Registered {
  readonly description?: string
  readonly source: string
}

/** What Pi says of the extensions that it has loaded; of several tools of one name it says the first only. */
export interface Extensions {
  readonly commands: ReadonlyArray<Command>
  readonly tools: ReadonlyArray<Registered>
}

/** What the thin entry hands over: where we are, and the classes by which Pi itself finds its extensions. */
export interface PiExtensions<S extends Settings> {
  /** The file of this extension that Pi loaded. */
  readonly entry: string
  /** Pi's agent directory (`getAgentDir()`). */
  readonly agentDir: string
  readonly SettingsManager: {
    readonly create: (cwd: string, agentDir: string, options: { readonly projectTrusted: boolean }) => S
  }
  readonly ProjectTrustStore: new(agentDir: string) => { readonly get: (cwd: string) => boolean | null }
  readonly DefaultPackageManager: new(
    options: { cwd: string; agentDir: string; settingsManager: S }
  ) => {
    readonly resolve: (
      onMissing: (source: string) => Promise<"skip">
    ) => Promise<{
      readonly extensions: ReadonlyArray<
        { readonly path: string; readonly enabled: boolean; readonly metadata: Origin }
      >
    }>
  }
}

/** The packages that register the tools of Intercom: this one, and the extension that shares its team file. */
const packages: ReadonlySet<string> = new Set(["pi-intercom-effect", "@comput/pi-intercom"])

const maxManifestBytes = 1024 * 1024
const decodeManifest = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ name: Schema.String })))

const realPath = (path: string) => Effect.map(Effect.option(Files.realPath(path)), Option.getOrElse(() => path))

/** The name in a folder's package.json; none if there is no such file, or it is not one. */
const packageName = (folder: string): Effect.Effect<Option.Option<string>> =>
  Effect.gen(function*() {
    const file = join(folder, "package.json")
    const stats = yield* Effect.tryPromise(() => stat(file))
    if (!stats.isFile() || stats.size > maxManifestBytes) return Option.none()
    const text = yield* Effect.tryPromise(() => readFile(file, "utf8"))
    return Option.map(decodeManifest(text.replace(/^\uFEFF/, "")), (manifest) => manifest.name)
  }).pipe(Effect.orElseSucceed(() => Option.none()))

/**
 * The package that a file belongs to: the nearest name upward. A `.pi` folder or the agent directory ends the search:
 * what lies loose in them belongs to no package, even when the project around them is one.
 */
const packageOf = (path: string, agentDir: string): Effect.Effect<Option.Option<string>> =>
  Effect.gen(function*() {
    for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
      if (folder === agentDir || basename(folder) === ".pi") break
      const name = yield* packageName(folder)
      if (Option.isSome(name)) return name
    }
    return Option.none()
  })

const isOurs = (path: string, agentDir: string): Effect.Effect<boolean> =>
  Effect.map(packageOf(path, agentDir), Option.exists((name) => packages.has(name)))

/** How a person takes an extension out of Pi, as the end of a sentence. */
const removalOf = ({ origin, scope, source }: Origin, agentDir: string): string => {
  if (scope === "temporary") return source === "cli" ? "start Pi without that -e" : `start Pi without -e ${source}`
  const [option, place] = scope === "project" ? ["-l ", " in that project"] : ["", ""]
  // A path in the user's settings is relative to them, and one that is typed to where that is done.
  const typed = scope === "user" && /^\.\.?\//.test(source) ? resolve(agentDir, source) : source
  if (origin === "package") return `run pi remove ${option}${typed}${place}`
  return source === "auto"
    ? `move it out of Pi's folder of extensions${place}`
    : `take it out of "extensions" in Pi's settings${place}`
}

/**
 * What Pi started in `directory` would load, by Pi's own resolution; installs nothing. `missing` are the packages that
 * it would install first. A project that Pi does not trust yet counts as trusted: the person may be about to say so.
 */
const resolveExtensions = <S extends Settings>(pi: PiExtensions<S>, directory: string) =>
  Effect.tryPromise(() => {
    const decided = new pi.ProjectTrustStore(pi.agentDir).get(directory)
    const settings = pi.SettingsManager.create(directory, pi.agentDir, { projectTrusted: false })
    const trusted = decided ?? settings.getDefaultProjectTrust() !== "never"
    const missing: Array<string> = []
    return new pi.DefaultPackageManager({
      cwd: directory,
      agentDir: pi.agentDir,
      settingsManager: trusted
        ? pi.SettingsManager.create(directory, pi.agentDir, { projectTrusted: true })
        : settings
    }).resolve((source) => {
      missing.push(source)
      return Promise.resolve("skip")
    }).then(({ extensions }) => ({ extensions: extensions.filter(({ enabled }) => enabled), missing }))
  }).pipe(
    // Settings that Pi cannot resolve load nothing: Pi itself says so in the tab.
    Effect.orElseSucceed(() => ({ extensions: [], missing: [] }))
  )

const npmName = (source: string): string => /^npm:(@?[^@]+)/.exec(source)?.[1]?.trim() ?? ""

/** The first other copy that Pi, started in `directory`, would load by its settings and folders. */
export const inSettings = <S extends Settings>(pi: PiExtensions<S>) =>
  Effect.fn("HostProgram.otherCopy")(function*(directory: string) {
    const own = yield* realPath(pi.entry)
    const agentDir = yield* realPath(pi.agentDir)
    const found = yield* resolveExtensions(pi, directory)
    for (const source of found.missing) {
      const copy: Copy = {
        path: source,
        removal: `run pi remove ${source} (with -l if it is in a project's settings)`
      }
      if (packages.has(npmName(source))) return Option.some(copy)
    }
    for (const { metadata, path } of found.extensions) {
      const real = yield* realPath(path)
      // The same real path given twice loads once (facts/pi).
      if (real === own || !(yield* isOurs(real, agentDir))) continue
      const copy: Copy = { path, removal: removalOf(metadata, agentDir) }
      return Option.some(copy)
    }
    return Option.none<Copy>()
  })

/** What `of` says, each with the real path of the extension that registered it. */
const withReal = <A extends Registered>(of: ReadonlyArray<A>) =>
  Effect.forEach(of, (one) => Effect.map(realPath(one.sourceInfo.path), (real) => ({ one, real })))

const named = (commands: ReadonlyArray<Command>) =>
  withReal(commands.filter(({ name, source }) => source === "extension" && /^intercom(?::\d+)?$/.test(name)))

/** What the person types for the command of the extension `entry`: Pi numbers those of one name. */
export const ownCommand = (entry: string, commands: ReadonlyArray<Command>): Effect.Effect<string> =>
  Effect.gen(function*() {
    const own = yield* realPath(entry)
    return (yield* named(commands)).find(({ real }) => real === own)?.one.name ?? "intercom"
  })

const loaded = <S extends Settings>(pi: PiExtensions<S>, { commands, tools }: Extensions) =>
  Effect.gen(function*() {
    const own = yield* realPath(pi.entry)
    const agentDir = yield* realPath(pi.agentDir)
    const all = yield* named(commands)
    const mine = all.find(({ real }) => real === own)?.one
    const ours = yield* Effect.filter(all, ({ one, real }) =>
      // A build that lies loose somewhere belongs to no package.
      one === mine || (mine !== undefined && one.description === mine.description)
        ? Effect.succeed(true)
        : isOurs(real, agentDir))
    // Tools are what clash: who has one of ours is a copy, whatever its commands are and whose package it is.
    const owners = yield* withReal(tools.filter(({ name }) => isToolName(name)))
    const copies = new Map<string, Copy>()
    for (const { one: { sourceInfo }, real } of [...ours, ...owners]) {
      const copy = copies.get(real) ?? { path: sourceInfo.path, removal: removalOf(sourceInfo, agentDir) }
      copies.set(real, copy)
    }
    return Array.from(copies.values())
  })

/** The copies in the Pi of this process, whose extensions have registered `extensions`. */
export const layer = <S extends Settings>(pi: PiExtensions<S>, extensions: Extensions): Layer.Layer<Copies> =>
  Layer.succeed(Copies, { loaded: loaded(pi, extensions), inSettings: inSettings(pi) })
