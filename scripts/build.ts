import { build, type Plugin } from "esbuild"
import { rmSync } from "node:fs"
import { resolve } from "node:path"

// Pi's loader transforms whatever an extension imports as a module, the first time for seconds (facts/pi, "Loading").
// So Pi loads a thin module that imports the host, and `require`s everything else as one CommonJS file.
const root = resolve(import.meta.dirname, "..")
const dist = resolve(root, "dist")
const host = /^@(earendil-works|mariozechner)\//

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

/** Packages that platform-node drags in for servers and clients that this product does not have. */
const stubs: Plugin = {
  name: "stubs",
  setup: (context) => {
    context.onResolve({ filter: /^(ws|mime|undici)(\/.*)?$/ }, ({ path }) => ({ path, namespace: "stub" }))
    context.onLoad({ filter: /.*/, namespace: "stub" }, () => ({ contents: "module.exports = {}" }))
  }
}

const noHost: Plugin = {
  name: "no-host",
  setup: (context) => {
    context.onResolve({ filter: host }, ({ importer, path }) => ({
      errors: [{ text: `${importer} imports ${path}: the core must not contain the host` }]
    }))
  }
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  metafile: true,
  logLevel: "warning",
  legalComments: "none"
} as const

rmSync(dist, { recursive: true, force: true })
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
    plugins: [stubs, noHost]
  })
])

for (const { metafile, warnings } of results) {
  if (warnings.length > 0) process.exitCode = 1
  for (const [file, output] of Object.entries(metafile.outputs)) {
    const packages = new Set(
      Object.keys(output.inputs).flatMap((input) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [])
    )
    console.log(`${file} ${(output.bytes / 1024).toFixed(1)} KB ${[...packages].join(" ")}`)
    for (const name of packages) {
      if (host.test(name) || name.startsWith("pi-")) throw new Error(`${file} contains the host package ${name}`)
    }
  }
}
