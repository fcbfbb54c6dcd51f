import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { readFile, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { LaunchFailed } from "../../domain/Launch.ts"
import { noMonitor } from "../../domain/MonitorPane.ts"
import { HostProgram } from "../../services/HostProgram.ts"
import { Platform } from "../../services/Platform.ts"
import * as Files from "../Files.ts"

/** The parts of Pi's settings that decide whether it loads a project's extensions. */
interface Settings {
  readonly getDefaultProjectTrust: () => "ask" | "always" | "never"
}

/** What the thin entry hands over: where we are, and the classes by which Pi itself finds its extensions. */
export interface PiHost<S extends Settings> {
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
    ) => Promise<{ readonly extensions: ReadonlyArray<{ readonly path: string; readonly enabled: boolean }> }>
  }
}

/** The packages that register the tools of Intercom: this one, and the extension that shares its team file. */
const copies: ReadonlySet<string> = new Set(["pi-intercom-effect", "@comput/pi-intercom"])

/** The variables that a child gets when they are set here (spec 5). */
const carried = [
  "PATH",
  "PI_CODING_AGENT_DIR",
  "PI_CODING_AGENT_SESSION_DIR",
  "PI_INTERCOM_ALLOW_UNAUTHENTICATED"
] as const

/** The monitor's program in the folder that the extension's entry is in. */
const monitorFile = "monitor.cjs"

const variable = (name: string) => Effect.orDie(Config.option(Config.string(name)))

const maxManifestBytes = 1024 * 1024
const decodeManifest = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ name: Schema.String })))

const realPath = (path: string) => Effect.option(Files.realPath(path))

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

/**
 * What Pi started in `directory` would load, by Pi's own resolution; installs nothing. `missing` are the packages that
 * it would install first. A project that Pi does not trust yet counts as trusted: the person may be about to say so.
 */
const resolveExtensions = <S extends Settings>(host: PiHost<S>, directory: string) =>
  Effect.tryPromise(() => {
    const decided = new host.ProjectTrustStore(host.agentDir).get(directory)
    const settings = host.SettingsManager.create(directory, host.agentDir, { projectTrusted: false })
    const trusted = decided ?? settings.getDefaultProjectTrust() !== "never"
    const missing: Array<string> = []
    return new host.DefaultPackageManager({
      cwd: directory,
      agentDir: host.agentDir,
      settingsManager: trusted
        ? host.SettingsManager.create(directory, host.agentDir, { projectTrusted: true })
        : settings
    }).resolve((source) => {
      missing.push(source)
      return Promise.resolve("skip")
    }).then(({ extensions }) => ({
      paths: extensions.filter((extension) => extension.enabled).map((extension) => extension.path),
      missing
    }))
  }).pipe(
    // Settings that Pi cannot resolve load nothing: Pi itself says so in the tab.
    Effect.orElseSucceed(() => ({ paths: [], missing: [] }))
  )

const npmName = (source: string): string => /^npm:(@?[^@]+)/.exec(source)?.[1]?.trim() ?? ""

const make = <S extends Settings>(host: PiHost<S>) =>
  Effect.gen(function*() {
    const { home } = yield* Platform
    const shown = (path: string) => home !== "" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
    const otherCopy = (copy: string) =>
      new LaunchFailed({
        reason: "other_copy",
        detail: `Pi would load two copies of Intercom there, ${shown(copy)} from its settings and this session's own ` +
          `${shown(host.entry)}, and end at once because both register the same tools; ` +
          "take one of them out of Pi's settings or folders"
      })

    // Compiled into one executable, Pi has no script on disk: the runtime is Pi, and other programs need a Node.
    const running = Effect.map(realPath(process.argv[1] ?? ""), (script) => ({
      script,
      runtime: Option.isSome(script) ? process.execPath : "node"
    }))

    const argv = Effect.gen(function*() {
      const other = Option.filter(yield* variable("PI_INTERCOM_PI"), (program) => program !== "")
      if (Option.isSome(other)) return [other.value, "-e", host.entry] as const
      const { script } = yield* running
      return [process.execPath, ...Option.toArray(script), "-e", host.entry] as const
    })

    const monitor = Effect.fn("HostProgram.monitor")(function*(root: string) {
      const entry = Option.getOrElse(yield* realPath(host.entry), () => host.entry)
      const program = yield* realPath(join(dirname(entry), monitorFile))
      if (Option.isNone(program)) {
        return yield* noMonitor(`${monitorFile} is not beside the extension; install Intercom again`)
      }
      const { runtime } = yield* running
      return [runtime, program.value, "--root", root] as const
    })

    const environment = Effect.map(
      Effect.all(Record.fromEntries(carried.map((name) => [name, variable(name)]))),
      Record.getSomes
    )

    const checkCopies = Effect.fn("HostProgram.checkCopies")(function*(directory: string) {
      const own = Option.getOrElse(yield* realPath(host.entry), () => host.entry)
      const agentDir = Option.getOrElse(yield* realPath(host.agentDir), () => host.agentDir)
      const found = yield* resolveExtensions(host, directory)
      for (const source of found.missing) {
        if (copies.has(npmName(source))) return yield* otherCopy(source)
      }
      for (const path of found.paths) {
        const real = yield* realPath(path)
        // The same real path given twice loads once (facts/pi).
        if (Option.isNone(real) || real.value === own) continue
        const name = yield* packageOf(real.value, agentDir)
        if (Option.isSome(name) && copies.has(name.value)) return yield* otherCopy(path)
      }
    })

    return HostProgram.of({ argv, monitor, environment, checkCopies })
  })

/** The Pi of this process, with what its thin entry hands over. */
export const layer = <S extends Settings>(host: PiHost<S>): Layer.Layer<HostProgram, never, Platform> =>
  Layer.effect(HostProgram, make(host))
