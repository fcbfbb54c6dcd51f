/** The files of logs: their names, their bounds and how long they are kept (spec 7.1). */

/** A file is at most 1 MiB; then it becomes `.jsonl.1`, and that one `.jsonl.2`. */
export const maxLogBytes = 1024 * 1024
/** At most this many records wait to be written. */
export const maxWaiting = 4096
/** At most this many entries of the folder are looked at. */
export const maxEntries = 4096

/** The file that a writer appends to. */
export const logName = (writerId: string): string => `writer-${writerId}.jsonl`

/** Every name that a file of a writer can have. */
export const logNames = (writerId: string): ReadonlyArray<string> =>
  ["", ".closed", ".1", ".2"].map((end) => `${logName(writerId)}${end}`)

/** Which file of a writer it is: what it appends to, what it left in order, what it rotated away once or twice. */
export type LogPart = "current" | "closed" | "1" | "2"

/** A file of a log by its name; undefined for what is none. */
export const logPart = (name: string): { readonly writerId: string; readonly part: LogPart } | undefined => {
  const [, writerId, end = "current"] = /^writer-([0-9a-f-]{36})\.jsonl(?:\.(1|2|closed))?$/.exec(name) ?? []
  if (writerId === undefined) return undefined
  return end === "1" || end === "2" || end === "closed" ? { writerId, part: end } : { writerId, part: "current" }
}

/** One log file as it lies there; `touchedAt` in ms since the epoch. */
export interface LogFile {
  readonly name: string
  readonly writerId: string
  readonly part: LogPart
  readonly bytes: number
  readonly touchedAt: number
}

const byWriter = (files: ReadonlyArray<LogFile>): ReadonlyArray<ReadonlyArray<LogFile>> => {
  const groups = new Map<string, Array<LogFile>>()
  for (const file of files) {
    const group = groups.get(file.writerId)
    if (group === undefined) groups.set(file.writerId, [file])
    else group.push(file)
  }
  return [...groups.values()]
}

const keptMs = 7 * 24 * 60 * 60 * 1000
const keptBytes = 32 * 1024 * 1024

/**
 * Which files go, oldest first (spec 7.1): whole logs that are closed or untouched for 7 days, when they are older than 7
 * days, and then while all of the files together exceed 32 MiB.
 */
export const prunable = (files: ReadonlyArray<LogFile>, now: number): ReadonlyArray<LogFile> => {
  const groups = byWriter(files).map((group) => ({
    group,
    closed: group.some((file) => file.part === "closed"),
    touchedAt: Math.max(...group.map((file) => file.touchedAt)),
    bytes: group.reduce((sum, file) => sum + file.bytes, 0)
  }))
  let total = groups.reduce((sum, { bytes }) => sum + bytes, 0)
  const gone: Array<LogFile> = []
  for (const { bytes, closed, group, touchedAt } of groups.toSorted((a, b) => a.touchedAt - b.touchedAt)) {
    const old = now - touchedAt > keptMs
    if (!old && !(closed && total > keptBytes)) continue
    gone.push(...group)
    total -= bytes
  }
  return gone
}
