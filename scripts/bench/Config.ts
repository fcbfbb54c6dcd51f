import { withFileMutationQueue } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { Port } from "../../src/domain/Primitives.ts"
import { proposeConfig, type TeamConfig } from "../../src/domain/TeamConfig.ts"
import * as Queue from "../../src/layers/FileMutationQueue/Pi.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as TeamFiles from "../../src/layers/TeamFiles.ts"
import { ConfigStore } from "../../src/services/ConfigStore.ts"
import { median, ratio, round, timed } from "./Measure.ts"
import { coordinatorId, place, team, workerId, workerName } from "./Team.ts"

const sync = (file: string, flags: string, use: (fd: number) => void = () => undefined): void => {
  const fd = fs.openSync(file, flags)
  use(fd)
  fs.fsyncSync(fd)
  fs.closeSync(fd)
}

/** The least that replaces a file for good: write, fsync, rename, fsync of the directory. */
const bareWrite = (file: string, bytes: Uint8Array): Effect.Effect<void> =>
  Effect.sync(() => {
    sync(`${file}.tmp`, "wx", (fd) => fs.writeFileSync(fd, bytes))
    fs.renameSync(`${file}.tmp`, file)
    sync(dirname(file), "r")
  })

const first = workerId(0)

/** Every update really changes the file: the first worker's port alternates. */
const flip = (config: TeamConfig): Either.Either<TeamConfig, Error> =>
  proposeConfig(config, {
    agents: config.agents.map((agent) =>
      agent.sessionId === first ? { ...agent, port: Port.make(agent.port === 1000 ? 2000 : 1000) } : agent
    )
  })

const files = TeamFiles.layer.pipe(Layer.provide(Layer.merge(Queue.layer(withFileMutationQueue), Platform.layer)))

const updates = (folder: string, workers: number) =>
  Effect.gen(function*() {
    const store = yield* ConfigStore
    const root = join(folder, `update-${workers}`)
    const bytes = fs.readFileSync(place(root, team(workers)))
    const bare = join(root, "bare.json")
    return yield* ratio(
      timed(store.update(root, coordinatorId, Effect.void, flip)),
      timed(bareWrite(bare, bytes)),
      { warmUp: 300, counted: 300 }
    )
  })

/** A team of 256 configured one after the other, over as many bare writes of the same bytes. */
const configures = (folder: string, run: number) =>
  Effect.gen(function*() {
    const store = yield* ConfigStore
    const root = join(folder, `configure-${run}`)
    const file = place(root, team(0))
    const bare = join(root, "bare.json")
    let [ours, baseline] = [0, 0]
    for (let n = 0; n < 256; n += 1) {
      const values = {
        sessionId: workerId(n),
        name: workerName(n),
        description: "Looks after one part of the project and says what it finds.",
        port: 20_000 + n,
        projectDirectory: "."
      }
      ours += yield* timed(store.configure(root, coordinatorId, Effect.void, values, () => Either.void))
      const bytes = fs.readFileSync(file)
      baseline += yield* timed(bareWrite(bare, bytes))
    }
    return ours / baseline
  })

/** Updates of a team file through the store that sessions have, in the host's own queue. */
export const figures = (folder: string) =>
  Effect.gen(function*() {
    const ratio1 = yield* updates(folder, 1)
    const ratio256 = yield* updates(folder, 256)
    const runs = yield* Effect.forEach([1, 2, 3], (run) => configures(folder, run))
    return {
      "config.ratio1": round(ratio1, 2),
      "config.ratio256": round(ratio256, 2),
      "config.configure256Ratio": round(median(runs), 2)
    }
  }).pipe(Effect.provide(files))
