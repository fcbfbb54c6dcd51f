const { appendFileSync } = require("node:fs")

// Preloaded into a monitor (CommonJS: stripping types takes memory of its own): its pauses of 3 s between passes take
// 1 ms, and at each its memory (MiB) and processor time (ms) are noted in MONITOR_MEMORY, a line each.
const usual = globalThis.setTimeout

globalThis.setTimeout = (run, ms, ...args) => {
  if (ms !== 3000) return usual(run, ms, ...args)
  const { system, user } = process.cpuUsage()
  const mb = process.memoryUsage.rss() / 1024 / 1024
  appendFileSync(process.env.MONITOR_MEMORY, `${mb.toFixed(1)} ${Math.round((system + user) / 1000)}\n`)
  return usual(run, 1)
}
