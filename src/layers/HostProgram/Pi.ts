import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { dirname, join } from "node:path"
import { LaunchFailed } from "../../domain/Launch.ts"
import { noMonitor } from "../../domain/MonitorPane.ts"
import { HostProgram } from "../../services/HostProgram.ts"
import { Platform } from "../../services/Platform.ts"
import * as Files from "../Files.ts"
import * as Copies from "./Copies.ts"

/** The variables that a child gets when they are set here (spec 5). */
const carried = [
  "PATH",
  "PI_CODING_AGENT_DIR",
  "PI_CODING_AGENT_SESSION_DIR",
  "PI_INTERCOM_ALLOW_UNAUTHENTICATED"
] as const

/** The monitor's program in the folder that the extension's entry is in. */
const monitorFile = "monitor.cjs"

const variable = (name: string) => Effect.orDie(Config.option(Config.string(name)))

const realPath = (path: string) => Effect.option(Files.realPath(path))

const make = <S extends Copies.Settings>(host: Copies.PiExtensions<S>) =>
  Effect.gen(function*() {
    const { home } = yield* Platform
    const shown = (path: string) => home !== "" && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
    const refused = (copy: string) =>
      new LaunchFailed({
        reason: "other_copy",
        detail: `Pi would load two copies of Intercom there, ${shown(copy)} from its settings and this session's own ` +
          `${shown(host.entry)}, and end at once because both register the same tools; ` +
          "take one of them out of Pi's settings or folders"
      })

    // Compiled into one executable, Pi has no script on disk: the runtime is Pi, and other programs need a Node.
    const running = Effect.map(realPath(process.argv[1] ?? ""), (script) => ({
      script,
      runtime: Option.isSome(script) ? process.execPath : "node"
    }))

    const argv = Effect.gen(function*() {
      const other = Option.filter(yield* variable("PI_INTERCOM_PI"), (program) => program !== "")
      if (Option.isSome(other)) return [other.value, "-e", host.entry] as const
      const { script } = yield* running
      return [process.execPath, ...Option.toArray(script), "-e", host.entry] as const
    })

    const monitor = Effect.fn("HostProgram.monitor")(function*(root: string) {
      const entry = Option.getOrElse(yield* realPath(host.entry), () => host.entry)
      const program = yield* realPath(join(dirname(entry), monitorFile))
      if (Option.isNone(program)) {
        return yield* noMonitor(`${monitorFile} is not beside the extension; install Intercom again`)
      }
      const { runtime } = yield* running
      return [runtime, program.value, "--root", root] as const
    })

    const environment = Effect.map(
      Effect.all(Record.fromEntries(carried.map((name) => [name, variable(name)]))),
      Record.getSomes
    )

    const otherCopy = Copies.inSettings(host)

    const checkCopies = Effect.fn("HostProgram.checkCopies")(function*(directory: string) {
      const copy = yield* otherCopy(directory)
      if (Option.isSome(copy)) return yield* refused(copy.value.path)
    })

    return HostProgram.of({ argv, monitor, environment, checkCopies })
  })

/** The Pi of this process, with what its thin entry hands over. */
export const layer = <S extends Copies.Settings>(
  host: Copies.PiExtensions<S>
): Layer.Layer<HostProgram, never, Platform> => Layer.effect(HostProgram, make(host))
