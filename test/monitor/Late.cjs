// Preloaded into a monitor: what pi-tui asks of the terminal 150 ms after its start is asked only once the monitor has
// left, while it waits at most 200 ms for what hangs.
const usual = globalThis.setTimeout
const held = []

globalThis.setTimeout = (run, ms, ...args) => {
  if (ms === 150) held.push(run)
  if (ms === 200) for (const late of held.splice(0)) late()
  return usual(ms === 150 ? () => undefined : run, ms, ...args)
}
