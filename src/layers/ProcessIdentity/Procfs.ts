import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { IdentifiedProcess, judge, parseStat, Pid, type Sighting } from "../../domain/IdentifiedProcess.ts"
import { IdentityFailed } from "../../domain/Pane.ts"
import { decodeDevice, type Device, parseFacts, parseVariable } from "../../domain/ProcessFacts.ts"
import { Platform } from "../../services/Platform.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { close, codeOf } from "../Files.ts"

const flags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0)

const refused = (detail: string) => new IdentityFailed({ detail })

const step = <A>(operation: () => A): Effect.Effect<A, string> => Effect.try({ try: operation, catch: codeOf })

/** What `use` reads of a file that is opened without blocking; files of procfs have no size. */
const reading = <A>(file: string, use: (fd: number) => A): Effect.Effect<A, string> =>
  Effect.acquireUseRelease(
    step(() => fs.openSync(file, flags)),
    (fd) => step(() => use(fd)),
    (fd) => close(file, fd)
  )

/** At most 4 KiB, in one read. */
const readShort = (file: string): Effect.Effect<string, string> =>
  reading(file, (fd) => {
    const bytes = Buffer.alloc(4096)
    return bytes.toString("latin1", 0, fs.readSync(fd, bytes, 0, bytes.length, null)).trim()
  })

const maxEnvironment = 4 * 1024 * 1024

/** The whole of an environment; undefined when it is larger than {@link maxEnvironment}. */
const readEnvironment = (file: string): Effect.Effect<string | undefined, string> =>
  reading(file, (fd) => {
    const chunks: Array<Buffer> = []
    for (let size = 0; size <= maxEnvironment;) {
      const chunk = Buffer.alloc(64 * 1024)
      const length = fs.readSync(fd, chunk, 0, chunk.length, null)
      if (length === 0) return Buffer.concat(chunks).toString("utf8")
      chunks.push(chunk.subarray(0, length))
      size += length
    }
    return undefined
  })

/** The device of a terminal; one whose number does not fit into what procfs prints is none. */
const deviceOf = (file: string): Effect.Effect<Device, IdentityFailed> =>
  step(() => fs.statSync(file, { bigint: true })).pipe(
    Effect.mapError((code) => refused(`its terminal cannot be looked at: the system answered ${code}`)),
    Effect.filterOrFail(
      (stats) => stats.isCharacterDevice() && stats.rdev > 0n && stats.rdev < 1n << 32n,
      () => refused("what should be its terminal is none")
    ),
    Effect.map((stats) => decodeDevice(Number(stats.rdev)))
  )

/**
 * The processes of a procfs tree, and `/etc/machine-id` of its machine. The tree is believed only while its `self` is
 * this very process: a procfs of another pid namespace shows other processes under the same numbers (spec 6.3). Without a
 * tree nothing is proven, not even by a signal: a pid of another namespace is not missing, only not visible.
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

    /** The files of one process, as long as the tree is ours. */
    const believed = Effect.fnUntraced(function*(pid: number) {
      if (!Schema.is(Pid)(pid)) return yield* refused("what should be its process id is none")
      if (!(yield* showsUs)) return yield* refused("this machine's procfs does not show this session's own process")
      return <A>(read: (file: string) => Effect.Effect<A, string>, name: string) =>
        Effect.mapError(read(path.join(procfs, String(pid), name)), (code) =>
          refused(
            code === "ENOENT" || code === "ESRCH"
              ? "its process is not there any more"
              : `its process cannot be looked at: the system answered ${code}`
          ))
    })

    const facts = Effect.fnUntraced(function*(pid: number) {
      const of = yield* believed(pid)
      const first = parseFacts(yield* of(readShort, "stat"), yield* of(readShort, "status"))
      // Read again: the uid must be of the process that started then.
      const again = parseStat(yield* of(readShort, "stat"))
      return first !== undefined && again._tag === "Found" && again.startTicks === first.startTicks
        ? first
        : yield* refused("what procfs says of its process cannot be read")
    })

    const environment = Effect.fnUntraced(function*(pid: number, name: string) {
      const of = yield* believed(pid)
      const all = yield* of(readEnvironment, "environ")
      return all === undefined
        ? yield* refused("its process has too large an environment")
        : Option.fromNullable(parseVariable(all, name))
    })

    return ProcessIdentity.of({
      own: Option.getOrElse(full, () => ({ pid: process.pid })),
      look,
      facts,
      environment,
      deviceOf
    })
  })

const withoutProcfs = refused("this system has no procfs, by which processes are recognised")

/** Where there is no procfs: the pid only; gone when the system knows no such process, else unknown (spec 6.3). */
const byPid: ProcessIdentity["Type"] = {
  own: { pid: process.pid },
  facts: () => withoutProcfs,
  environment: () => withoutProcfs,
  deviceOf,
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
