import * as Pi16 from "@earendil-works/pi-coding-agent"
import { vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Pi084 from "pi-0-84"
import * as Pi from "../../../src/layers/SavedSessions/Pi.ts"
import { SavedSessions } from "../../../src/services/SavedSessions.ts"
import { cliOf, type HostVersion, node22 } from "../../support/HostVersions.ts"
import { saveWith } from "../../support/PiSession.ts"
import { platformAs } from "../../support/PlatformAs.ts"

/** A person's home with Pi's folder, and a worker's folder, empty. */
export interface Machine {
  readonly home: string
  readonly agent: string
  readonly directory: string
}

export const machineIn = (base: string): Machine => {
  const [home, agent, directory] = [join(base, "home"), join(base, "home/agent"), join(base, "root/api")]
  for (const folder of [agent, join(directory, ".pi")]) mkdirSync(folder, { recursive: true })
  // Pi's own classes look at these.
  vi.stubEnv("HOME", home)
  vi.stubEnv("PI_CODING_AGENT_DIR", agent)
  vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", undefined)
  return { home, agent, directory }
}

/** A session as that Pi saves it: with a finished turn. `folder` absent: where it does by default. Answers its file. */
export const save = (version: HostVersion, id: string, cwd: string, folder?: string): string => {
  const { SessionManager } = version === "1.6.0" ? Pi16 : Pi084
  return saveWith(SessionManager, id, cwd, folder)
}

/** A settings file: the person's, or the project's. */
export const settings = (machine: Machine, whose: "user" | "project", sessionDir: string): void =>
  writeFileSync(
    whose === "user" ? join(machine.agent, "settings.json") : join(machine.directory, ".pi/settings.json"),
    JSON.stringify({ sessionDir })
  )

/** Where a session is to be saved, and what says so. */
export interface Arrangement {
  readonly name: string
  readonly arrange: (machine: Machine) => string | undefined
  /** Whether a Pi that is started in the worker's folder looks there. */
  readonly found: boolean
}

export const arrangements: ReadonlyArray<Arrangement> = [
  { name: "where Pi saves by default", arrange: () => undefined, found: true },
  {
    name: "the variable, an absolute path",
    arrange: ({ home }) => {
      vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", join(home, "by variable"))
      return join(home, "by variable")
    },
    found: true
  },
  {
    name: "the variable, with ~, before all settings",
    arrange: (machine) => {
      settings(machine, "user", join(machine.home, "elsewhere"))
      settings(machine, "project", join(machine.home, "elsewhere"))
      vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", "~/s")
      return join(machine.home, "s")
    },
    found: true
  },
  {
    name: "the variable, relative to the worker's folder",
    arrange: ({ directory }) => {
      vi.stubEnv("PI_CODING_AGENT_SESSION_DIR", "../sessions")
      return join(directory, "../sessions")
    },
    found: true
  },
  {
    name: "the user's setting, with ~",
    arrange: (machine) => {
      settings(machine, "user", "~/mine")
      return join(machine.home, "mine")
    },
    found: true
  },
  {
    name: "the user's setting, relative to the worker's folder",
    arrange: (machine) => {
      settings(machine, "user", ".sessions")
      return join(machine.directory, ".sessions")
    },
    found: true
  },
  {
    name: "the project's setting before the user's, although nobody has trusted the project",
    arrange: (machine) => {
      settings(machine, "user", join(machine.home, "elsewhere"))
      settings(machine, "project", "./.pi/sessions")
      return join(machine.directory, ".pi/sessions")
    },
    found: true
  },
  {
    name: "the user's folder, while the project's setting names another one",
    arrange: (machine) => {
      settings(machine, "user", join(machine.home, "mine"))
      settings(machine, "project", join(machine.home, "other"))
      return join(machine.home, "mine")
    },
    found: false
  },
  {
    name: "the default folder, while the user's setting names another one",
    arrange: (machine) => {
      settings(machine, "user", join(machine.home, "mine"))
      return undefined
    },
    found: false
  }
]

/** Our layer with the classes of a host version, as the thin entry hands them over. */
export const sessionsOf = (version: HostVersion, { agent, home }: Machine): Layer.Layer<SavedSessions> =>
  Layer.provide(
    version === "1.6.0" ? Pi.layer({ agentDir: agent, ...Pi16 }) : Pi.layer({ agentDir: agent, ...Pi084 }),
    platformAs("linux", home)
  )

/** Whether real Pi, started in the worker's folder, finds the session by its id, exactly. */
export const reallyFinds = (version: HostVersion, machine: Machine, id: string): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const environment = { ...process.env, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" }
    execFile(
      node22,
      [cliOf(version), "--session", id, "-p", "hello"],
      { cwd: machine.directory, env: environment, timeout: 120_000, killSignal: "SIGKILL" },
      (_, stdout, stderr) => {
        if (/No session found|different project/.test(stdout + stderr)) return resume(Effect.succeed(false))
        // Without a model the run fails, but only once the session is open.
        return resume(
          /No API key found|No models available/.test(stderr)
            ? Effect.succeed(true)
            : Effect.dieMessage(`Pi ended in another way: ${stderr.slice(-2000)}`)
        )
      }
    ).stdin?.end()
  })
