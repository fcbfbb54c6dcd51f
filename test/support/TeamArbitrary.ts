import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { describe } from "../../src/domain/Problems.ts"
import { decodeConfig, type TeamConfig } from "../../src/domain/TeamConfig.ts"

/** Generators of valid team files, with unknown keys that another version could have left in them. */

const text = (max: number) =>
  FastCheck.string({ unit: "binary", minLength: 1, maxLength: max }).filter((value) =>
    value.length <= max && value.trim() !== "" && !value.includes("\0")
  )
const name = text(20).filter((value) => value === value.trim() && !/[\u0000-\u001f\u007f-\u009f]/.test(value))
const time = FastCheck.date({
  noInvalidDate: true,
  min: new Date("2000-01-01T00:00:00Z"),
  max: new Date("2100-01-01T00:00:00Z")
}).map((date) => date.toISOString())
const token = FastCheck.stringMatching(/^[A-Za-z0-9-]{1,20}$/)
const port = FastCheck.integer({ min: 1, max: 65535 })
const directory = FastCheck.oneof(
  FastCheck.constant("."),
  FastCheck.array(FastCheck.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 3 }).map((parts) =>
    parts.join("/")
  )
)
const unknownKeys = FastCheck.dictionary(
  FastCheck.string({ maxLength: 8 }).map((key) => `x-${key}`),
  FastCheck.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
  { maxKeys: 3 }
)
const handoff = FastCheck.record({ version: FastCheck.constant(1), jobId: token, summary: text(200), updatedAt: time })
const closeJob = FastCheck.record(
  {
    jobId: token,
    state: FastCheck.constantFrom("requested", "ready", "closing", "uncertain", "closed", "timed_out"),
    createdAt: time,
    updatedAt: time,
    deadlineAt: time,
    reason: FastCheck.constantFrom("timeout", "close_failed", "worker_busy")
  },
  { requiredKeys: ["jobId", "state", "createdAt", "updatedAt", "deadlineAt"] }
)
const worker = FastCheck.record(
  {
    sessionId: text(40),
    name,
    coordinator: FastCheck.constant(false),
    description: text(60),
    port,
    projectDirectory: directory,
    handoff,
    closeJob
  },
  { requiredKeys: ["sessionId", "name", "coordinator", "description", "port", "projectDirectory"] }
)
const coordinator = FastCheck.record(
  {
    sessionId: FastCheck.constant("the-coordinator"),
    name: FastCheck.constant("Coordinator"),
    coordinator: FastCheck.constant(true),
    description: text(60),
    port,
    projectDirectory: FastCheck.constant("."),
    dashboardPort: port
  },
  { requiredKeys: ["sessionId", "name", "coordinator", "description", "port", "projectDirectory"] }
)

/** The text of a valid file of at most `maxWorkers` workers, in any key order, coordinated by `the-coordinator`. */
export const configText = (
  multiplexers: ReadonlyArray<string> = ["herdr", "tmux", "none"],
  maxWorkers = 5
): FastCheck.Arbitrary<string> =>
  FastCheck.tuple(
    coordinator,
    FastCheck.uniqueArray(FastCheck.tuple(worker, unknownKeys), {
      maxLength: maxWorkers,
      comparator: (a, b) => a === b,
      selector: ([one]) => one.sessionId
    }),
    unknownKeys,
    unknownKeys,
    FastCheck.constantFrom(...multiplexers),
    FastCheck.boolean()
  ).map(([first, workers, ofCoordinator, ofFile, multiplexer, unknownFirst]) => {
    const names = new Set(["coordinator"])
    const agents: Array<object> = [{ ...first, ...ofCoordinator }]
    for (const [one, unknown] of workers) {
      if (names.has(one.name.toLowerCase())) continue
      names.add(one.name.toLowerCase())
      agents.push(unknownFirst ? { ...unknown, ...one } : { ...one, ...unknown })
    }
    return JSON.stringify(
      unknownFirst ? { ...ofFile, agents, multiplexer, version: 1 } : { version: 1, multiplexer, agents, ...ofFile }
    )
  })

/** What a text says, when the test depends on its being valid. */
export const decoded = (content: string): TeamConfig =>
  Either.getOrThrowWith(decodeConfig(content), (invalid) => new Error(describe(invalid)))
