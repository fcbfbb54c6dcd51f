const { appendFileSync, readFileSync } = require("node:fs")

// Preloaded into a monitor (CommonJS: stripping types takes memory of its own): the pauses of 3 s between passes of its
// process that reads take 1 ms, and at each the memory (MiB) of that process and of the one that shows, and the processor
// time (ms) of the former, are noted in MONITOR_MEMORY, a line each.
const usual = globalThis.setTimeout
const page = 4096

globalThis.setTimeout = (run, ms, ...args) => {
  if (ms !== 3000) return usual(run, ms, ...args)
  const { system, user } = process.cpuUsage()
  const mb = (pid) => (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * page / 1024 / 1024).toFixed(1)
  const noted = [mb(process.pid), mb(process.ppid), Math.round((system + user) / 1000)]
  appendFileSync(process.env.MONITOR_MEMORY, `${noted.join(" ")}\n`)
  return usual(run, 1)
}
