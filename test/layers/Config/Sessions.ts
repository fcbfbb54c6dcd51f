import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Port, SessionId } from "../../../src/domain/Primitives.ts"
import { firstConfig, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import * as Unqueued from "../../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as TeamFiles from "../../../src/layers/TeamFiles.ts"
import { ConfigReader } from "../../../src/services/ConfigReader.ts"
import { ConfigStore } from "../../../src/services/ConfigStore.ts"
import { ProjectDirectories } from "../../../src/services/ProjectDirectories.ts"

/** What reads and writes team files. */
export type ConfigServices = ConfigReader | ConfigStore | ProjectDirectories

/** The file layers as the product composes them, with this state folder and what else the environment says. */
export const fileLayer = (
  state: string,
  environment: Readonly<Record<string, string>> = {}
): Layer.Layer<ConfigServices> =>
  TeamFiles.layer.pipe(
    Layer.provide(Layer.merge(Unqueued.layer, Platform.layer)),
    Layer.provide(
      Layer.setConfigProvider(
        ConfigProvider.fromMap(new Map(Object.entries({ PI_INTERCOM_STATE_DIR: state, ...environment })))
      )
    )
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
