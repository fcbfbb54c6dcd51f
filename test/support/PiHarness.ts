import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { writeBuild } from "./Built.ts"
import { witnessed } from "./config-witness/Witnessed.ts"
import type { NeverCame } from "./Eventually.ts"
import * as Herdr from "./herdr/Herdr.ts"
import { cliOf, type HostVersion, node22 } from "./HostVersions.ts"
import * as Pane from "./PiPane.ts"
import * as Model from "./ScriptedModel.ts"
import * as Tmux from "./TmuxServer.ts"

const manifest = Schema.Struct({ version: Schema.String })
const ownVersion = Schema.decodeSync(Schema.parseJson(manifest))(
  fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")
).version

/** How a Pi is started; everything has the value that most tests want. */
export interface StartOptions {
  /** A folder of the harness; the project when absent. */
  readonly directory?: string
  /** The session's id; a fresh one when absent. */
  readonly sessionId?: string
  /** Opens the saved session of that id, which must exist, as a person does the next day. */
  readonly saved?: boolean
  /** Extension files; ours, built, when absent. */
  readonly extensions?: ReadonlyArray<string>
  readonly args?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

/** A Pi that the harness started, ready to be typed into. */
export interface StartedPi extends Pane.PiPane {
  readonly sessionId: string
  readonly directory: string
}

/** What the Pis of a harness run in: tmux, or the stand-in for Herdr on top of it. */
export type Surroundings = "tmux" | "herdr"

/** A home, an empty trusted project, a tmux server and a scripted model for real, interactive Pis; offline. */
export interface PiHarness {
  readonly version: HostVersion
  /** The temporary folder that holds everything. */
  readonly root: string
  /** A real path, empty at first. */
  readonly project: string
  readonly home: string
  readonly agentDir: string
  /** Our extension, built. */
  readonly entry: string
  readonly model: Model.ScriptedModel
  readonly tmux: Tmux.TmuxServer
  /** There where the Pis run in Herdr. */
  readonly herdr: Herdr.Herdr | undefined
  /** Makes a trusted folder beside the project. */
  readonly folder: (name: string) => Effect.Effect<string>
  /** Starts a Pi in a tmux session of its own, or a Herdr tab of its own, and waits until it takes input. */
  readonly start: (options?: StartOptions) => Effect.Effect<StartedPi, Tmux.TmuxFailed | NeverCame>
  /** What a Pi needs that runs outside tmux, such as one in print mode: its program, arguments and environment. */
  readonly command: (options?: StartOptions) => {
    readonly argv: readonly [string, ...ReadonlyArray<string>]
    readonly environment: Readonly<Record<string, string>>
  }
  /** The pane of a worker or monitor that a Pi opened. */
  readonly pane: (pane: string) => Pane.PiPane
}

const settings = {
  defaultProvider: "mock",
  defaultModel: "mock-1",
  quietStartup: true,
  enableInstallTelemetry: false,
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 2000 },
  compaction: { enabled: true, reserveTokens: 16384, keepRecentTokens: 1 }
}

const models = (baseUrl: string) => ({
  providers: {
    mock: {
      baseUrl,
      api: "openai-completions",
      apiKey: "dummy",
      // Tells the model which session asks: the header x-session-affinity, on both hosts.
      compat: { sendSessionAffinityHeaders: true },
      models: [{
        id: "mock-1",
        name: "Mock 1",
        reasoning: false,
        input: ["text"],
        contextWindow: 128000,
        maxTokens: 4096,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
      }]
    }
  }
})

const writeJson = (file: string, value: unknown): void => fs.writeFileSync(file, JSON.stringify(value, null, 2))

/**
 * Makes the harness; with its scope the Pis, the tmux server, the model and the folder go. The environment of the tmux
 * server and its sessions lacks the agent directory, so that a worker has it only if the launch carries it.
 */
export const make = (
  version: HostVersion,
  script: Model.Script,
  surroundings: Surroundings = "tmux"
): Effect.Effect<PiHarness, Tmux.TmuxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "pi-intercom-e2e-")))),
      (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    )
    const own = ["home", "agent", "tmp", "extension"].map((name) => path.join(root, name))
    const [home = "", agentDir = "", temp = "", extension = ""] = own
    for (const folder of own) fs.mkdirSync(folder)
    const model = yield* Model.make(script)
    writeJson(path.join(agentDir, "settings.json"), settings)
    writeJson(path.join(agentDir, "models.json"), models(model.baseUrl))

    const trusted: Record<string, boolean> = {}
    const folder = (name: string) =>
      Effect.sync(() => {
        const made = path.join(root, name)
        fs.mkdirSync(made)
        trusted[made] = true
        writeJson(path.join(agentDir, "trust.json"), trusted)
        return made
      })
    const project = yield* folder("project")

    const shared = {
      HOME: home,
      PATH: `${path.dirname(node22)}:${process.env["PATH"] ?? ""}`,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      TMPDIR: temp,
      PI_OFFLINE: "1",
      PI_SKIP_VERSION_CHECK: "1",
      PI_TELEMETRY: "0",
      ...witnessed()
    }
    const herdr = surroundings === "herdr" ? yield* Herdr.make(root, shared) : undefined
    const tmux = herdr?.tmux ?? (yield* Tmux.make(root, shared))

    const entry = yield* writeBuild(extension)
    // The monitor says its package's version. Without a name: the folders here belong to no package.
    writeJson(path.join(root, "package.json"), { version: ownVersion })
    const command: PiHarness["command"] = (options = {}) => ({
      argv: [
        node22,
        cliOf(version),
        ...(options.extensions ?? [entry]).flatMap((file) => ["-e", file]),
        ...(options.args ?? [])
      ],
      environment: { ...shared, ...herdr?.variables(), PI_CODING_AGENT_DIR: agentDir, ...options.environment }
    })

    const openSession = (directory: string, argv: ReadonlyArray<string>) => {
      const size = ["-x", "140", "-y", "44"]
      return tmux.run(["new-session", "-d", "-P", "-F", "#{pane_id}", ...size, "-c", directory, "--", ...argv])
    }
    /** All in one workspace; a new one when its last tab is gone. */
    let workspace = ""
    const openTab = (on: Herdr.Herdr, directory: string, argv: ReadonlyArray<string>) =>
      on.tab(workspace, directory, argv).pipe(
        Effect.orElse(() => on.workspace(directory, argv)),
        Effect.map((opened) => {
          workspace = opened.workspace
          return opened.tmux
        })
      )

    const start: PiHarness["start"] = (options = {}) =>
      Effect.gen(function*() {
        const directory = options.directory ?? project
        const sessionId = options.sessionId ?? randomUUID()
        const { argv, environment } = command({
          ...options,
          args: [options.saved === true ? "--session" : "--session-id", sessionId, ...(options.args ?? [])]
        })
        const program = ["env", ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ...argv]
        const opened = yield* herdr === undefined
          ? openSession(directory, program)
          : openTab(herdr, directory, program)
        const pane = Pane.make(tmux, opened.trim())
        yield* pane.shows("mock-1")
        return { ...pane, sessionId, directory }
      })

    return {
      version,
      root,
      project,
      home,
      agentDir,
      entry,
      model,
      tmux,
      herdr,
      folder,
      start,
      command,
      pane: (id) => Pane.make(tmux, id)
    }
  })
