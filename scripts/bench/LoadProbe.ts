import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import { renameSync, writeFileSync } from "node:fs"

/** What both Pis load beside the extension that is measured: says how old the process is when the session starts. */
export default function probe(pi: ExtensionAPI): void {
  pi.on("session_start", () => {
    const file = process.env["BENCH_LOAD_FILE"]
    if (file === undefined) return
    const ms = Date.now() - performance.timeOrigin
    writeFileSync(`${file}.tmp`, JSON.stringify({ pid: process.pid, ms }))
    renameSync(`${file}.tmp`, file)
  })
}
