import * as path from "node:path"

/** The host versions that are supported and tested: the newest and the oldest. */
export type HostVersion = "1.6.0" | "0.84.4"

export const hostVersions: ReadonlyArray<HostVersion> = ["1.6.0", "0.84.4"]

/** The newest only, where a test of one stands for both; in a long run it is made with each. */
export const newestHost: ReadonlyArray<HostVersion> = process.env["EVERY_HOST"] === "yes" ? hostVersions : ["1.6.0"]

const modules = path.resolve(import.meta.dirname, "../../node_modules")

/** Pi's CLI script of a version. */
export const cliOf = (version: HostVersion): string =>
  path.join(
    modules,
    version === "1.6.0" ? "@earendil-works/pi-coding-agent" : "pi-0-84",
    "dist/bundle/cli.js"
  )

/** The Node that the hosts need (22.19 or later), from the package `node`. */
export const node22 = path.join(modules, "node/bin/node")

/** The extension as Pi loads it from a checkout. */
export const sourceEntry = path.resolve(modules, "../src/programs/extension.ts")
