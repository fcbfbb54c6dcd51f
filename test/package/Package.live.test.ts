import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { eventuallyTrue } from "../support/Eventually.ts"
import { hostVersions, node22 } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { say } from "../support/ScriptedModel.ts"
import { temporaryFolder } from "../support/TempFolder.ts"
import { realTmux } from "../support/Tmux.ts"

const checkout = path.resolve(import.meta.dirname, "../..")
const name = "pi-intercom-effect"
/** What `npm pack` needs; `dist` is not in it. */
const sources = ["package.json", "README.md", "docs", "src", "monitor", "scripts"]

/** Runs a program to its end and answers its output; a failure is a defect that shows it. */
const run = (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> }
): Effect.Effect<string> =>
  Effect.async((resume) => {
    execFile(program, args, { ...options, timeout: 60_000 }, (error, stdout, stderr) =>
      resume(
        error === null ? Effect.succeed(stdout) : Effect.dieMessage(`${program}: ${error.message}\n${stdout}${stderr}`)
      ))
      .stdin?.end()
  })

const filesIn = (folder: string): ReadonlyArray<string> =>
  fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()

const environment = (home: string) => ({
  PATH: `${path.dirname(node22)}:${process.env["PATH"] ?? ""}`,
  HOME: home,
  TMPDIR: home
})

/** The tarball of a fresh copy of the checkout, without a `dist`: what is in it was built by `npm pack` itself. */
class Tarball extends Context.Tag("test/Tarball")<Tarball, string>() {}

const packed = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const copy = path.join(folder, "copy")
  fs.mkdirSync(copy)
  for (const source of sources.filter((one) => fs.existsSync(path.join(checkout, one)))) {
    fs.cpSync(path.join(checkout, source), path.join(copy, source), { recursive: true })
  }
  fs.symlinkSync(path.join(checkout, "node_modules"), path.join(copy, "node_modules"))
  yield* run("npm", ["pack", "--pack-destination", folder], { cwd: copy, env: environment(folder) })
  const [tarball] = fs.readdirSync(folder).filter((file) => file.endsWith(".tgz"))
  return path.join(folder, tarball ?? "none")
})

/** The package in an empty folder, installed as Pi installs packages (its package manager), without a registry. */
const installed: Effect.Effect<string, never, Tarball | Scope.Scope> = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const flags = ["--legacy-peer-deps", "--no-audit", "--no-fund", "--offline"]
  const args = ["install", yield* Tarball, "--prefix", folder, ...flags]
  yield* run("npm", args, { cwd: folder, env: environment(folder) })
  return path.join(folder, "node_modules", name)
})

const Manifest = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  keywords: Schema.Array(Schema.String),
  pi: Schema.Struct({ extensions: Schema.Array(Schema.String) }),
  dependencies: Schema.optional(Schema.Unknown)
}))

/** Puts what Node would find as the host beside an installed package; it notes when it is loaded. */
const decoyHost = (modules: string): string => {
  const noted = path.join(modules, "loaded")
  const folder = path.join(modules, "@earendil-works/pi-coding-agent")
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }))
  const values =
    "DefaultPackageManager, getAgentDir, ProjectTrustStore, SettingsManager, VERSION, withFileMutationQueue"
  fs.writeFileSync(
    path.join(folder, "index.js"),
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(noted)}, "")
     const ${values.split(", ").map((value) => `${value} = undefined`).join(", ")}; export { ${values} }`
  )
  return noted
}

const answers = (pi: PiHarness.StartedPi) => Effect.zipRight(pi.type("/intercom"), pi.shows("no team here yet"))

layer(Layer.scoped(Tarball, packed), { excludeTestServices: true, timeout: "2 minutes" })("the package", (it) => {
  it.scoped("holds the build, the README and the docs, and nothing of this machine or of the host", () =>
    Effect.gen(function*() {
      const folder = yield* installed
      assert.deepStrictEqual(fs.readdirSync(folder).sort(), ["README.md", "dist", "docs", "package.json"])
      assert.deepStrictEqual(fs.readdirSync(path.dirname(folder)).filter((one) => !one.startsWith(".")), [name])
      assert.includeMembers([...filesIn(path.join(folder, "dist"))], [
        "core.cjs",
        "doctor.cjs",
        "extension.js",
        "monitor.cjs",
        "package.json",
        "reading.cjs"
      ])
      for (const file of filesIn(folder)) {
        assert.notMatch(file, /\.(map|ts)$/)
        const text = fs.readFileSync(path.join(folder, file), "utf8")
        assert.notInclude(text, "sourceMappingURL", file)
        for (const local of [checkout, os.homedir() + path.sep]) assert.notInclude(text, local, file)
      }
      const manifest = yield* Schema.decode(Manifest)(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
      assert.strictEqual(manifest.name, name)
      assert.include(manifest.keywords, "pi-package")
      assert.isUndefined(manifest.dependencies)
      assert.deepStrictEqual(manifest.pi.extensions, ["./dist/extension.js"])
      for (const file of manifest.pi.extensions) assert.isTrue(fs.existsSync(path.join(folder, file)), file)
    }))

  it.scoped("works in each host from where it was installed, with that host's modules and no other's", () =>
    Effect.gen(function*() {
      const folder = yield* installed
      const noted = decoyHost(path.dirname(folder))
      for (const version of hostVersions) {
        const harness = yield* PiHarness.make(version, () => say("hello"))
        yield* answers(yield* harness.start({ extensions: [path.join(folder, "dist/extension.js")] }))
      }
      assert.isFalse(fs.existsSync(noted))
    }))

  it.scoped("has a monitor that runs from there, and reads its version from there", () =>
    Effect.gen(function*() {
      const folder = yield* installed
      const command = path.join(path.dirname(folder), ".bin/pi-intercom-monitor")
      const { version } = yield* Schema.decode(Manifest)(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
      const tmux = yield* realTmux({ PATH: environment(folder).PATH })
      fs.mkdirSync(path.join(tmux.folder, "root"))
      const argv = [command, "--root", path.join(tmux.folder, "root"), "--owner", "of-this-pane"]
      yield* tmux.run(["new-session", "-d", "-s", "monitor", "-x", "80", "-y", "10", "--", ...argv])
      const screen = tmux.run(["capture-pane", "-p", "-t", "=monitor:"])
      const shown = Effect.map(screen, (text) => text.includes("no team file") && text.includes(`Intercom v${version}`))
      yield* eventuallyTrue("its sentence and version", shown, Effect.orElseSucceed(screen, () => "no pane"))
    }))

  it.scoped("has a doctor that runs from there", () =>
    Effect.gen(function*() {
      const command = path.join(path.dirname(yield* installed), ".bin/pi-intercom-doctor")
      const root = yield* temporaryFolder
      fs.mkdirSync(path.join(root, ".pi-intercom"))
      const coordinator = { sessionId: "c-1", name: "Coordinator", coordinator: true, port: 21_534 }
      const agents = [{ ...coordinator, description: "Coordinates.", projectDirectory: "." }]
      const text = JSON.stringify({ version: 1, multiplexer: "none", agents })
      fs.writeFileSync(path.join(root, ".pi-intercom/config.json"), text, { mode: 0o644 })
      const said = yield* run(command, ["--root", root, "--json"], { cwd: root, env: environment(root) })
      assert.deepInclude(JSON.parse(said), { version: 1, root: "~", findings: [], more: 0 })
    }))

  it.scoped("is installed by Pi itself, and loads from Pi's settings", () =>
    Effect.gen(function*() {
      const tarball = yield* Tarball
      const harness = yield* PiHarness.make("1.6.0", () => say("hello"))
      const install = harness.command({ extensions: [], args: ["install", `npm:${name}@file:${tarball}`] })
      const [program, ...args] = install.argv
      yield* run(program, args, { cwd: harness.project, env: { ...install.environment, npm_config_offline: "true" } })
      yield* answers(yield* harness.start({ extensions: [] }))
    }))
})
