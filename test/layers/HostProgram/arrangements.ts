import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** A machine: an agent directory, a project, this extension, and another copy of it. */
export interface Machine {
  readonly agent: string
  readonly project: string
  readonly ours: string
  readonly copy: string
}

/** A way of configuring Pi, and whether Pi started with `-e <ours>` in the project dies of a second copy. */
export interface Arrangement {
  readonly name: string
  readonly conflict: boolean
  readonly arrange: (machine: Machine) => void
}

const write = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** An extension that registers one tool, in a package of this name. */
const packageAt = (folder: string, name: string, tool = "intercom_send"): void => {
  write(
    join(folder, "package.json"),
    JSON.stringify({ name, version: "1.0.0", type: "module", pi: { extensions: ["./dist/e.js"] } })
  )
  for (const entry of ["e.js", "other.js"]) write(join(folder, "dist", entry), extension(tool))
}

const extension = (tool: string): string =>
  `export default (pi) => pi.registerTool({ name: "${tool}", label: "x", description: "x",
     parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) })\n`

const user = ({ agent }: Machine, settings: unknown) => write(join(agent, "settings.json"), JSON.stringify(settings))
const project = (machine: Machine, settings: unknown) =>
  write(join(machine.project, ".pi/settings.json"), JSON.stringify(settings))
const trust = ({ agent, project }: Machine, decision: boolean) =>
  write(join(agent, "trust.json"), JSON.stringify({ [project]: decision }))

/** Builds a machine below an empty folder. */
export const machineIn = (folder: string): Machine => {
  const machine = {
    agent: join(folder, "agent"),
    project: join(folder, "project"),
    ours: join(folder, "ours/dist/e.js"),
    copy: join(folder, "copy")
  }
  mkdirSync(machine.agent, { recursive: true })
  mkdirSync(machine.project)
  packageAt(join(folder, "ours"), "pi-intercom-effect")
  packageAt(machine.copy, "pi-intercom-effect")
  return machine
}

const ourFolder = (machine: Machine): string => dirname(dirname(machine.ours))

export const arrangements: ReadonlyArray<Arrangement> = [
  { name: "no settings", conflict: false, arrange: () => undefined },
  {
    name: "a package of the user",
    conflict: true,
    arrange: (machine) => user(machine, { packages: [machine.copy] })
  },
  {
    name: "this very package",
    conflict: false,
    arrange: (machine) => user(machine, { packages: [ourFolder(machine)] })
  },
  {
    name: "this very package through a link",
    conflict: false,
    arrange: (machine) => {
      symlinkSync(ourFolder(machine), join(machine.agent, "link"))
      user(machine, { packages: ["./link"] })
    }
  },
  {
    name: "another file of this package",
    conflict: true,
    arrange: (machine) => user(machine, { extensions: [join(ourFolder(machine), "dist/other.js")] })
  },
  {
    name: "a file of the user, relative",
    conflict: true,
    arrange: (machine) => user(machine, { extensions: ["../copy/dist/e.js"] })
  },
  {
    name: "a folder of the user's extensions",
    conflict: true,
    arrange: (machine) => packageAt(join(machine.agent, "extensions/intercom"), "@comput/pi-intercom")
  },
  {
    name: "a folder of the user's extensions that the settings exclude",
    conflict: false,
    arrange: (machine) => {
      packageAt(join(machine.agent, "extensions/intercom"), "@comput/pi-intercom")
      user(machine, { extensions: ["-extensions/intercom/dist/e.js"] })
    }
  },
  {
    name: "a package without its extension",
    conflict: false,
    arrange: (machine) => user(machine, { packages: [{ source: machine.copy, extensions: [] }] })
  },
  {
    name: "an npm package of the user",
    conflict: true,
    arrange: (machine) => {
      packageAt(join(machine.agent, "npm/node_modules/@comput/pi-intercom"), "@comput/pi-intercom")
      user(machine, { packages: ["npm:@comput/pi-intercom"] })
    }
  },
  {
    name: "a git package of the user",
    conflict: true,
    arrange: (machine) => {
      packageAt(join(machine.agent, "git/github.com/someone/intercom"), "pi-intercom-effect")
      user(machine, { packages: ["git:github.com/someone/intercom"] })
    }
  },
  {
    name: "a package of another name",
    conflict: false,
    arrange: (machine) => {
      packageAt(join(machine.project, "other"), "other", "other_tool")
      user(machine, { packages: [join(machine.project, "other")] })
    }
  },
  {
    name: "a package of a trusted project",
    conflict: true,
    arrange: (machine) => {
      trust(machine, true)
      project(machine, { packages: ["../../copy"] })
    }
  },
  {
    name: "a package of a project that is not trusted",
    conflict: false,
    arrange: (machine) => {
      trust(machine, false)
      project(machine, { packages: ["../../copy"] })
    }
  },
  {
    name: "a package of a project, where projects are never trusted",
    conflict: false,
    arrange: (machine) => {
      user(machine, { defaultProjectTrust: "never" })
      project(machine, { packages: ["../../copy"] })
    }
  },
  {
    name: "a linked folder of a trusted project's extensions",
    conflict: true,
    arrange: (machine) => {
      trust(machine, true)
      mkdirSync(join(machine.project, ".pi/extensions"), { recursive: true })
      symlinkSync(machine.copy, join(machine.project, ".pi/extensions/mine"))
    }
  },
  {
    name: "a loose extension in a trusted checkout of this package",
    conflict: false,
    arrange: (machine) => {
      trust(machine, true)
      packageAt(machine.project, "pi-intercom-effect")
      write(join(machine.project, ".pi/extensions/dev.js"), extension("dev_tool"))
    }
  },
  { name: "settings that are not JSON", conflict: false, arrange: (m) => write(join(m.agent, "settings.json"), "{") },
  { name: "settings that are a folder", conflict: false, arrange: (m) => mkdirSync(join(m.agent, "settings.json")) },
  { name: "settings of other types", conflict: false, arrange: (machine) => user(machine, { packages: 5 }) },
  {
    name: "a package whose package.json is not JSON",
    conflict: false,
    arrange: (machine) => {
      packageAt(join(machine.agent, "extensions/broken"), "x", "x_tool")
      write(join(machine.agent, "extensions/broken/package.json"), "{")
    }
  }
]
