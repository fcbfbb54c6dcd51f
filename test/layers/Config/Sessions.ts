import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Port, SessionId } from "../../../src/domain/Primitives.ts"
import { firstConfig, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import * as ConfigReaderFile from "../../../src/layers/ConfigReader/File.ts"
import * as ConfigStoreFile from "../../../src/layers/ConfigStore/File.ts"
import * as Unqueued from "../../../src/layers/FileMutationQueue/Unqueued.ts"
import * as ProjectDirectoriesFile from "../../../src/layers/ProjectDirectories/File.ts"
import { ConfigReader } from "../../../src/services/ConfigReader.ts"
import { ConfigStore } from "../../../src/services/ConfigStore.ts"
import { ProjectDirectories } from "../../../src/services/ProjectDirectories.ts"

/** What reads and writes team files. */
export type ConfigServices = ConfigReader | ConfigStore | ProjectDirectories

/** The file layers as the product composes them. */
export const fileLayer: Layer.Layer<ConfigServices> = ConfigStoreFile.layer.pipe(
  Layer.provideMerge(Layer.merge(ConfigReaderFile.layer, ProjectDirectoriesFile.layer)),
  Layer.provide(Unqueued.layer)
)

/** One session's own build of the layers: nothing is shared with another session but the files. */
export const session = (
  layer: Layer.Layer<ConfigServices>
): Effect.Effect<{ reader: ConfigReader["Type"]; store: ConfigStore["Type"] }, never, Scope.Scope> =>
  Effect.map(Layer.build(layer), (services) => ({
    reader: Context.get(services, ConfigReader),
    store: Context.get(services, ConfigStore)
  }))

/** A coordinator's id. */
export const coordinatorId = SessionId.make("the-coordinator")

/** What `sessionId` publishes first. */
export const first = (sessionId: SessionId = coordinatorId): TeamConfig =>
  firstConfig(sessionId, Port.make(41_000), "herdr")

/** The five values of a worker. */
export const values = (
  sessionId: string,
  changed: Partial<{ name: string; port: number; projectDirectory: string }> = {}
) => ({
  sessionId,
  name: `Worker ${sessionId}`,
  description: "Writes the tests.",
  port: 42_000,
  projectDirectory: ".",
  ...changed
})
