import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { AgentName, coordinatorName, Port, SessionId } from "../../src/domain/Primitives.ts"
import { type Agent, encodeConfig, type TeamConfig } from "../../src/domain/TeamConfig.ts"

export const coordinatorId = SessionId.make("coordinator")
export const workerId = (n: number): SessionId => SessionId.make(`worker-${n}`)
export const workerName = (n: number): AgentName => AgentName.make(`Worker ${n}`)

const worker = (n: number, handoff: string | undefined): Agent => ({
  sessionId: workerId(n),
  name: workerName(n),
  coordinator: false,
  description: "Looks after one part of the project and says what it finds.",
  port: Port.make(20_000 + n),
  projectDirectory: ".",
  ...(handoff === undefined
    ? {}
    : { handoff: { version: 1, jobId: `job-${n}`, summary: handoff, updatedAt: "2026-01-01T00:00:00.000Z" } })
})

/** A team of a coordinator and `workers` workers, each with this handoff. */
export const team = (workers: number, handoff?: string): TeamConfig => ({
  version: 1,
  multiplexer: "tmux",
  agents: [
    {
      sessionId: coordinatorId,
      name: coordinatorName,
      coordinator: true,
      description: "Coordinates the team.",
      port: Port.make(20_000),
      projectDirectory: "."
    },
    ...Array.from({ length: workers }, (_, n) => worker(n, handoff))
  ]
})

/** Makes a root with this team file; answers the file's path. */
export const place = (root: string, config: TeamConfig): string => {
  const folder = join(root, ".pi-intercom")
  mkdirSync(folder, { recursive: true })
  const file = join(folder, "config.json")
  writeFileSync(file, encodeConfig(config))
  return file
}
