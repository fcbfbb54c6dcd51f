import * as Schema from "effect/Schema"

const text = (max: number) => Schema.String.pipe(Schema.maxLength(max))

/** A process id: a positive safe integer; anything else is refused before any read (spec 6.3). */
export const Pid = Schema.Int.pipe(Schema.between(1, Number.MAX_SAFE_INTEGER))

/** A process as procfs tells it apart from any other: its number alone is given out again (spec 6.3). */
const OnProcfs = Schema.Struct({
  pid: Pid,
  /** Field 22 of `/proc/<pid>/stat`. */
  startTicks: Schema.String.pipe(Schema.pattern(/^\d{1,20}$/)),
  bootId: text(64).pipe(Schema.minLength(1)),
  /** `/etc/machine-id`, empty where there is none. */
  machineId: text(64),
  pidNamespace: text(64).pipe(Schema.minLength(1))
})

/** Where there is no procfs only the pid is known. */
const ByPid = Schema.Struct({ pid: Pid })

/** A process identity: what a lock file holds, and what a process is later recognised by (spec 6.3). */
export const IdentifiedProcess = Schema.Union(OnProcfs, ByPid)
export type IdentifiedProcess = typeof IdentifiedProcess.Type

/** What is known of a process. Unknown verifies nothing and lifts nothing (spec 6.3). */
export type Liveness = "alive" | "gone" | "unknown"

/** What a look at `/proc/<pid>/stat` found. */
export type Sighting =
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Unreadable" }
  | { readonly _tag: "Found"; readonly state: string; readonly startTicks: string }

/** The machine that looks; none without a procfs that shows this very process as `/proc/self`. */
export interface Viewpoint {
  readonly bootId: string
  readonly machineId: string
  readonly pidNamespace: string
}

/**
 * State (field 3) and start (field 22) of `/proc/<pid>/stat`, counted after the *last* `)`: a command's name may hold
 * blanks and parentheses (spec 6.3). Unreadable when it is not such a line.
 */
export const parseStat = (stat: string): Sighting => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, startTicks] = [fields[0], fields[19]]
  return stat.includes(")") && state !== undefined && state.length === 1 && startTicks !== undefined &&
      /^\d{1,20}$/.test(startTicks)
    ? { _tag: "Found", state, startTicks }
    : { _tag: "Unreadable" }
}

/** The states of a process that has ended and was not collected yet (spec 6.3). */
export const ended: ReadonlySet<string> = new Set(["Z", "X", "x"])

/**
 * Whether a process is alive, proven gone, or neither (spec 6.3): gone by another boot of the same known machine, or,
 * in the same boot and pid namespace, by a missing pid, another start or a state that has ended.
 */
export const judge = (process: IdentifiedProcess, here: Viewpoint | undefined, seen: Sighting): Liveness => {
  if (here === undefined || !("bootId" in process)) return "unknown"
  const sameMachine = process.machineId !== "" && process.machineId === here.machineId
  if (process.bootId !== here.bootId) return sameMachine ? "gone" : "unknown"
  if (process.pidNamespace !== here.pidNamespace || seen._tag === "Unreadable") return "unknown"
  if (seen._tag === "Missing" || seen.startTicks !== process.startTicks || ended.has(seen.state)) return "gone"
  return "alive"
}
