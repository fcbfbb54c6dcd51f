import { ended, parseStat } from "./IdentifiedProcess.ts"

/** A device as two numbers, in which system calls and procfs agree whatever their encodings. */
export interface Device {
  readonly major: number
  readonly minor: number
}

/** What procfs says of a process now, for the checks of spec 6.3. */
export interface ProcessFacts {
  /** Field 22 of stat. */
  readonly startTicks: string
  /** Field 3 of stat, one letter. */
  readonly state: string
  /** Field 6 of stat; 0 when its leader is outside this pid namespace. */
  readonly session: number
  /** Its controlling terminal, field 7 of stat; 0:0 without one, which no device is. */
  readonly tty: Device
  /** Its effective uid. */
  readonly uid: number
}

/** The device of a terminal number, as stat(2) and field 7 of `/proc/<pid>/stat` encode it (facts/tmux). */
export const decodeDevice = (encoded: number): Device => ({
  major: (encoded >> 8) & 0xfff,
  minor: (encoded & 0xff) | ((encoded >> 12) & 0xfff00)
})

export const isSameDevice = (one: Device, other: Device): boolean =>
  one.major === other.major && one.minor === other.minor

/** Whether a process with these facts is alive (spec 6.3). */
export const isAlive = (facts: ProcessFacts): boolean => !ended.has(facts.state)

/** The effective uid. Lines are ended by newlines only: a command's name, in the first line, may hold any other blank. */
const effectiveUid = (status: string): number | undefined => {
  for (const line of status.split("\n")) {
    const [, uid] = /^Uid:\t\d+\t(\d{1,10})\t\d+\t\d+$/.exec(line) ?? []
    if (uid !== undefined) return Number(uid)
  }
  return undefined
}

/** The facts in `/proc/<pid>/stat` and `/proc/<pid>/status`; undefined when either is not of its form. */
export const parseFacts = (stat: string, status: string): ProcessFacts | undefined => {
  const seen = parseStat(stat)
  const [, , , session = "", tty = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const uid = effectiveUid(status)
  return seen._tag !== "Found" || uid === undefined || !/^\d{1,10}$/.test(session) || !/^-?\d{1,10}$/.test(tty)
    ? undefined
    : { startTicks: seen.startTicks, state: seen.state, session: Number(session), tty: decodeDevice(Number(tty)), uid }
}

/** One variable of `/proc/<pid>/environ`, the first of that name as getenv reads it; undefined when there is none. */
export const parseVariable = (environ: string, name: string): string | undefined => {
  const entry = environ.split("\0").find((text) => text.startsWith(`${name}=`))
  return entry?.slice(name.length + 1)
}
