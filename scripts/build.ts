import { build, type Plugin } from "esbuild"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"

// Pi's loader transforms whatever an extension imports as a module, the first time for seconds (facts/pi, "Loading").
// So Pi loads a thin module that imports the host, and `require`s everything else as one CommonJS file.
const root = resolve(import.meta.dirname, "..")
const host = /^@(earendil-works|mariozechner)\//
const hostFolder = /node_modules\/(@earendil-works|@mariozechner\/(?!pi-tui\/)|pi-0-84)\//

const coreByRequire: Plugin = {
  name: "core-by-require",
  setup: (context) => {
    context.onResolve({ filter: /^\.\/core\.ts$/ }, () => ({ path: "core", namespace: "core" }))
    context.onLoad({ filter: /.*/, namespace: "core" }, () => ({
      contents: `import { createRequire } from "node:module"
        export const { activate } = createRequire(import.meta.url)("./core.cjs")`
    }))
  }
}

/** What is rarely wanted is a file of its own beside those that load it. */
const examineBeside: Plugin = {
  name: "examine-beside",
  setup: (context) => {
    context.onResolve(
      { filter: /\/doctor\/examine\.ts$/ },
      ({ kind }) => kind === "entry-point" ? undefined : { path: "./examine.cjs", external: true }
    )
  }
}

/** Packages that platform-node drags in for servers and clients that this product does not have. */
const stubs: Plugin = {
  name: "stubs",
  setup: (context) => {
    context.onResolve({ filter: /^(ws|mime|undici)(\/.*)?$/ }, ({ path }) => ({ path, namespace: "stub" }))
    context.onLoad({ filter: /.*/, namespace: "stub" }, () => ({ contents: "module.exports = {}" }))
  }
}

/** The host's own parts must not be in a bundle; the monitor's are those that draw on a terminal. */
const noHost = (allowed?: RegExp): Plugin => ({
  name: "no-host",
  setup: (context) => {
    context.onResolve({ filter: host }, ({ importer, path }) =>
      allowed?.test(path) === true
        ? undefined
        : { errors: [{ text: `${importer} imports ${path}: the bundle must not contain the host` }] })
  }
})

const shared = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  platform: "node",
  target: "node20",
  metafile: true,
  logLevel: "warning",
  legalComments: "none"
} as const

/**
 * Pi's loader imports an ES module natively where it can, and then the host is whatever Node finds from there: beside a
 * node_modules that holds it a second copy, with a version and a mutation queue of its own, 70 MB and a second later.
 * Called CommonJS, the entry is always transformed, and the loader gives it the host that runs.
 */
const manifest: BuiltFile = {
  name: "package.json",
  contents: new TextEncoder().encode(`${JSON.stringify({ type: "commonjs" })}\n`)
}

/** One file of the package. */
export interface BuiltFile {
  readonly name: string
  readonly contents: Uint8Array
}

/** A program of its own, run by Node; it may draw on a terminal. */
const program = (entry: string, outfile: string) =>
  build({
    ...shared,
    entryPoints: [entry],
    outfile,
    format: "cjs",
    minify: true,
    // A CommonJS file has no import.meta.
    banner: { js: "const moduleUrl = require(\"node:url\").pathToFileURL(__filename).href;" },
    define: { "import.meta.url": "moduleUrl", "import.meta.dirname": "__dirname" },
    plugins: [examineBeside, stubs, noHost(/^@mariozechner\/pi-tui\//)]
  })

/** Builds in memory; fails rather than build something that contains the host. */
export const buildFiles = async (): Promise<ReadonlyArray<BuiltFile>> => {
  const results = await Promise.all([
    build({
      ...shared,
      entryPoints: ["src/programs/extension.ts"],
      outfile: "dist/extension.js",
      format: "esm",
      external: ["@earendil-works/*"],
      plugins: [coreByRequire]
    }),
    build({
      ...shared,
      entryPoints: ["src/programs/core.ts"],
      outfile: "dist/core.cjs",
      format: "cjs",
      minify: true,
      plugins: [examineBeside, stubs, noHost()]
    }),
    program("src/programs/doctor/examine.ts", "dist/examine.cjs"),
    program("monitor/main.ts", "dist/monitor.cjs"),
    program("monitor/reading.ts", "dist/reading.cjs"),
    program("monitor/doctor.ts", "dist/doctor.cjs")
  ])
  const bundles = results.flatMap(({ metafile, outputFiles, warnings }) => {
    const [warning] = warnings
    if (warning !== undefined) throw new Error(warning.text)
    const stray = Object.keys(metafile.inputs).find((input) => hostFolder.test(input))
    if (stray !== undefined) throw new Error(`the host would be bundled: ${stray}`)
    return outputFiles.map(({ contents, path }) => ({ name: basename(path), contents }))
  })
  return [...bundles, manifest]
}

// `node scripts/build.ts` builds the package; with names only those files of it, and says nothing.
if (process.argv[1] === import.meta.filename) {
  const dist = resolve(root, "dist")
  const [, , ...only] = process.argv
  if (only.length === 0) rmSync(dist, { recursive: true, force: true })
  mkdirSync(dist, { recursive: true })
  for (const { contents, name } of await buildFiles()) {
    if (only.length > 0 && !only.includes(name)) continue
    writeFileSync(join(dist, name), contents)
    if (only.length === 0) console.log(`dist/${name} ${(contents.byteLength / 1024).toFixed(1)} KB`)
  }
}
