import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"

const read = (file: string): string => {
  try {
    return fs.readFileSync(file, "latin1")
  } catch {
    // It ended, or is not ours.
    return ""
  }
}

/** State and start ticks of a process (fields 3 and 22), after the name, which may hold `) (`. */
const stat = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  const text = read(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return text === "" ? undefined : { state: fields[0] ?? "", started: fields[19] ?? "" }
}

/** Whether a process is there and is not only waiting to be collected: tmux does not always do that. */
export const isRunning = (pid: number): boolean => !/^[ZX]?$/.test(stat(pid)?.state ?? "")

const signal = (pid: number, name: "SIGTERM" | "SIGKILL"): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It ended between the look and the signal.
  }
}

/** Whether something listens on a port of this machine. */
export const isOpen = (port: number): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const socket = net.connect({ host: "127.0.0.1", port, timeout: 1000 })
    const answer = (open: boolean) => {
      socket.destroy()
      resume(Effect.succeed(open))
    }
    socket.on("connect", () => answer(true)).on("timeout", () => answer(true)).on("error", () => answer(false))
  })

/** Sees what the demo starts, ends it, and tells what is still there. */
export interface Leftovers {
  /** Remembers the processes that live now. */
  readonly look: Effect.Effect<void>
  /** Remembers a port on which a session or the model listens. */
  readonly port: (port: number) => void
  /** Ends every process: asks for 2 s, then kills. Needs no tmux and no list of what was started. */
  readonly end: Effect.Effect<void>
  /** One phrase for each thing that is still there; empty when nothing is. */
  readonly left: Effect.Effect<ReadonlyArray<string>>
  /** How many processes and ports were seen. */
  readonly seen: () => { readonly processes: number; readonly ports: number }
}

/**
 * Everything that the demo starts has its home below `folder`, children of children and daemons included; that is how
 * they are found. A process that ended but was not waited for has an empty environment, so zombies do not count.
 */
export const make = (folder: string): Leftovers => {
  const mark = `\0HOME=${folder}${path.sep}`
  const processes = new Map<string, number>()
  const ports = new Set<number>()

  const marked = Effect.sync(() =>
    fs.readdirSync("/proc").map(Number).filter((pid) => pid > 0 && `\0${read(`/proc/${pid}/environ`)}`.includes(mark))
  )
  const look = Effect.map(marked, (pids) => {
    for (const pid of pids) processes.set(`${pid} ${stat(pid)?.started}`, pid)
    return pids
  })

  const end = Effect.gen(function*() {
    // Twice nothing: between the two looks a client of tmux that was under way could have started a server.
    for (let round = 0, quiet = 0; quiet < 2 && round < 200; round += 1) {
      const pids = yield* look
      quiet = pids.length === 0 ? quiet + 1 : 0
      if (round % 10 === 0) { for (const pid of pids) signal(pid, round < 40 ? "SIGTERM" : "SIGKILL") }
      yield* Effect.sleep("50 millis")
    }
  })

  const left = Effect.gen(function*() {
    const alive = [...processes].filter(([key, pid]) => isRunning(pid) && key === `${pid} ${stat(pid)?.started}`)
    const open = yield* Effect.filter([...ports], isOpen)
    return [
      ...alive.map(([, pid]) => `process ${pid} (${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 80)})`),
      ...open.map((port) => `port ${port}`),
      ...(fs.existsSync(folder) ? [`folder ${folder}`] : [])
    ]
  })

  return {
    look: Effect.asVoid(look),
    port: (port) => ports.add(port),
    end,
    left,
    seen: () => ({ processes: processes.size, ports: ports.size })
  }
}
