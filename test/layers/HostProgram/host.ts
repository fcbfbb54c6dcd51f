import * as Pi16 from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFile } from "node:child_process"
import { dirname } from "node:path"
import * as Pi084 from "pi-0-84"
import * as InPi from "../../../src/layers/HostProgram/Copies.ts"
import * as Pi from "../../../src/layers/HostProgram/Pi.ts"
import type { Copies } from "../../../src/services/Copies.ts"
import { HostProgram } from "../../../src/services/HostProgram.ts"
import { cliOf, type HostVersion, node22 } from "../../support/HostVersions.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import type { Machine } from "./arrangements.ts"

/** Our layer with the classes of a host version, as the thin entry hands them over. */
export const hostOf = (version: HostVersion, { agent, ours }: Machine): Layer.Layer<HostProgram> => {
  const where = { entry: ours, agentDir: agent }
  return Layer.provide(
    version === "1.6.0" ? Pi.layer({ ...where, ...Pi16 }) : Pi.layer({ ...where, ...Pi084 }),
    platformAs("linux", dirname(agent))
  )
}

/** The copies in a Pi that has loaded these extensions, or none yet: then those of its settings. */
export const copiesOf = (
  version: HostVersion,
  { agent, ours }: Machine,
  extensions: InPi.Extensions = { commands: [], tools: [] }
): Layer.Layer<Copies> => {
  const where = { entry: ours, agentDir: agent }
  return version === "1.6.0"
    ? InPi.layer({ ...where, ...Pi16 }, extensions)
    : InPi.layer({ ...where, ...Pi084 }, extensions)
}

/** What `checkCopies` says about the project: its sentence, or undefined when it lets the launch go on. */
export const checked = (version: HostVersion, machine: Machine): Effect.Effect<string | undefined> =>
  HostProgram.pipe(
    Effect.flatMap((program) => program.checkCopies(machine.project)),
    Effect.match({ onFailure: (error) => `${error.reason}: ${error.message}`, onSuccess: () => undefined }),
    Effect.provide(hostOf(version, machine))
  )

/** Whether real Pi, started in the project as a worker would be, ends because two extensions register one tool. */
export const reallyConflicts = (version: HostVersion, machine: Machine): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const environment = {
      HOME: dirname(machine.agent),
      PATH: process.env["PATH"] ?? "",
      PI_CODING_AGENT_DIR: machine.agent,
      PI_OFFLINE: "1",
      PI_SKIP_VERSION_CHECK: "1",
      PI_TELEMETRY: "0"
    }
    execFile(
      node22,
      [cliOf(version), "-e", machine.ours, "-p", "hello"],
      { cwd: machine.project, env: environment, timeout: 120_000, killSignal: "SIGKILL" },
      (error, _, stderr) => {
        const conflict = /Tool "intercom_send" conflicts with/.test(stderr)
        // Without a model every run fails, and settings of other types end Pi in its own resolution (0.84.4).
        const known = conflict || /No API key found|No models available|is not iterable/.test(stderr)
        if (error === null || error.killed === true || !known) {
          resume(Effect.dieMessage(`Pi ended in another way: ${stderr.slice(-2000)}`))
        } else resume(Effect.succeed(conflict))
      }
    ).stdin?.end()
  })
