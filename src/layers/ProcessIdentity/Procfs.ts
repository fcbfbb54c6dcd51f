import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { IdentifiedProcess, judge, parseStat, Pid, type Sighting } from "../../domain/IdentifiedProcess.ts"
import { Platform } from "../../services/Platform.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { close, codeOf } from "../Files.ts"

const flags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0)

const step = <A>(operation: () => A): Effect.Effect<A, string> => Effect.try({ try: operation, catch: codeOf })

/** At most 4 KiB, in one read that never blocks: files of procfs have no size, and these are far shorter. */
const readShort = (file: string): Effect.Effect<string, string> =>
  Effect.acquireUseRelease(
    step(() => fs.openSync(file, flags)),
    (fd) =>
      step(() => {
        const bytes = Buffer.alloc(4096)
        return bytes.toString("latin1", 0, fs.readSync(fd, bytes, 0, bytes.length, null)).trim()
      }),
    (fd) => close(file, fd)
  )

/**
 * The processes of a procfs tree, and `/etc/machine-id` of its machine. The tree is believed only while its `self` is
 * this very process: a procfs of another pid namespace shows other processes under the same numbers (spec 6.3).
 */
export const make = (procfs: string, machineIdFile: string): Effect.Effect<ProcessIdentity["Type"]> =>
  Effect.gen(function*() {
    const showsUs = Effect.orElseSucceed(
      step(() => fs.readlinkSync(path.join(procfs, "self")) === String(process.pid)),
      () => false
    )
    const sight = (pid: number): Effect.Effect<Sighting> =>
      readShort(path.join(procfs, String(pid), "stat")).pipe(
        Effect.map(parseStat),
        Effect.catchAll((code): Effect.Effect<Sighting> =>
          Effect.succeed({ _tag: code === "ENOENT" || code === "ESRCH" ? "Missing" : "Unreadable" })
        )
      )

    const seen = yield* sight(process.pid)
    const known = yield* Effect.option(Effect.all({
      bootId: readShort(path.join(procfs, "sys/kernel/random/boot_id")),
      machineId: Effect.orElseSucceed(readShort(machineIdFile), () => ""),
      pidNamespace: step(() => fs.readlinkSync(path.join(procfs, "self/ns/pid")))
    }))
    const full = (yield* showsUs) && seen._tag === "Found" && Option.isSome(known)
      ? Schema.validateOption(IdentifiedProcess)({ pid: process.pid, startTicks: seen.startTicks, ...known.value })
      : Option.none()

    const look = Effect.fnUntraced(function*(other: IdentifiedProcess) {
      if (!Schema.is(Pid)(other.pid)) return "unknown"
      const here = Option.isSome(full) && "bootId" in full.value && (yield* showsUs) ? full.value : undefined
      return judge(other, here, yield* sight(other.pid))
    })
    return ProcessIdentity.of({ own: Option.getOrElse(full, () => ({ pid: process.pid })), look })
  })

/** Where there is no procfs: the pid only; gone when the system knows no such process, else unknown (spec 6.3). */
const byPid: ProcessIdentity["Type"] = {
  own: { pid: process.pid },
  look: (other) =>
    "bootId" in other || !Schema.is(Pid)(other.pid) ?
      Effect.succeed("unknown") :
      step(() => process.kill(other.pid, 0)).pipe(
        Effect.as("unknown" as const),
        Effect.catchAll((code) => Effect.succeed(code === "ESRCH" ? "gone" as const : "unknown" as const))
      )
}

/** The processes of this machine. */
export const layer: Layer.Layer<ProcessIdentity, never, Platform> = Layer.effect(
  ProcessIdentity,
  Effect.flatMap(Platform, ({ os }) => os === "linux" ? make("/proc", "/etc/machine-id") : Effect.succeed(byPid))
)
