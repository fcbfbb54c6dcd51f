import * as Effect from "effect/Effect"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import * as path from "node:path"
import { temporaryFolder } from "../../support/TempFolder.ts"

/** A line of stat: 52 fields, of which the command may be anything. Parent and group are 0 and 1. */
export const stat = (pid: number, start: string, state = "S", command = "node", session = "2", tty = "3") =>
  `${pid} (${command}) ${state} 0 1 ${session} ${tty} ${
    Array.from({ length: 14 }, (_, index) => index).join(" ")
  } ${start} ${"7 ".repeat(30)}\n`

export interface Machine {
  readonly self?: string
  readonly bootId?: string
  readonly machineId?: string
  readonly pidNamespace?: string
}

/** A procfs that shows this process, started at 500, and `others` by pid. */
export const tree = (machine: Machine = {}, others: Readonly<Record<number, string>> = {}) =>
  Effect.map(temporaryFolder, (folder) => {
    const procfs = path.join(folder, "proc")
    const put = (pid: number, line: string) => {
      mkdirSync(path.join(procfs, String(pid), "ns"), { recursive: true })
      writeFileSync(path.join(procfs, String(pid), "stat"), line)
      symlinkSync(machine.pidNamespace ?? "pid:[1]", path.join(procfs, String(pid), "ns/pid"))
    }
    put(process.pid, stat(process.pid, "500"))
    for (const [pid, line] of Object.entries(others)) put(Number(pid), line)
    symlinkSync(machine.self ?? String(process.pid), path.join(procfs, "self"))
    mkdirSync(path.join(procfs, "sys/kernel/random"), { recursive: true })
    writeFileSync(path.join(procfs, "sys/kernel/random/boot_id"), `${machine.bootId ?? "boot"}\n`)
    const machineId = path.join(folder, "machine-id")
    if (machine.machineId !== "") writeFileSync(machineId, `${machine.machineId ?? "machine"}\n`)
    return { procfs, machineId }
  })
