import * as fs from "node:fs"

interface Process {
  readonly pid: number
  readonly name: string
  readonly group: number
  readonly session: number
  /** The group in the foreground of its terminal; -1 without one. */
  readonly foreground: number
}

/** What a look at /proc gives, unless the process ended meanwhile. */
const look = <A>(get: () => A): A | undefined => {
  try {
    return get()
  } catch {
    return undefined
  }
}

const processOf = (pid: number): Process | undefined => {
  const stat = look(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
  if (stat === undefined) return undefined
  const end = stat.lastIndexOf(")")
  const [state = "", , group, session, , foreground] = stat.slice(end + 2).split(" ")
  return /[ZX]/.test(state) ? undefined : {
    pid,
    name: stat.slice(stat.indexOf("(") + 1, end),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground)
  }
}

/** What runs in the session of a pane's first process; what left it is out of reach, as in Herdr. */
const inSession = (leader: number): ReadonlyArray<Process> =>
  fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => processOf(Number(name)) ?? [])
    .filter((one) => one.session === leader)

export const directoryOf = (pid: number): string | undefined => look(() => fs.readlinkSync(`/proc/${pid}/cwd`))

const argvOf = (pid: number): ReadonlyArray<string> | undefined =>
  look(() => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0$/, "").split("\0"))

/** The group in the foreground of a pane, and its processes. */
export const foregroundOf = (leader: number) => {
  const group = processOf(leader)?.foreground ?? -1
  return {
    group: group > 0 ? group : undefined,
    processes: inSession(leader).filter((one) => one.group === group).map(({ name, pid }) => {
      const argv = argvOf(pid)
      return { pid, name, argv, cmdline: argv?.join(" "), cwd: directoryOf(pid) }
    })
  }
}

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Asks everything in the pane's session to end, ever harder, and gives it 250 ms each time. */
export const endSession = (leader: number): void => {
  for (const signal of ["SIGHUP", "SIGTERM", "SIGKILL"] as const) {
    for (const { pid } of inSession(leader)) look(() => process.kill(pid, signal))
    for (let waited = 0; waited < 250 && inSession(leader).length > 0; waited += 10) pause(10)
  }
}

/** Blocks until whoever called us is gone: what is stuck must not outlive a test. */
export const hang = (): never => {
  const caller = process.ppid
  while (process.ppid === caller) pause(100)
  process.exit(1)
}
