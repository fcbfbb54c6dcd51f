import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ConfigReader from "../src/layers/ConfigReader/File.ts"
import * as Ids from "../src/layers/Ids/Node.ts"
import * as IntercomClient from "../src/layers/IntercomClient/Http.ts"
import * as ObservationReader from "../src/layers/ObservationReader/File.ts"
import * as Platform from "../src/layers/Platform/Node.ts"
import * as ReportStore from "../src/layers/ReportStore/File.ts"
import * as Secrets from "../src/layers/Secrets/Existing.ts"
import * as StateDir from "../src/layers/StateDir/File.ts"
import { posting } from "./News.ts"
import { watch } from "./Watch.ts"

// The monitor's process for all that may hang: main.ts starts it with a root, and shows what it sends.

const [, , root = ""] = process.argv
process.once("disconnect", () => process.exit())
const tell = posting((post) => void process.send?.(post))

const files = ObservationReader.layer.pipe(Layer.provide(Layer.merge(ConfigReader.layer, ReportStore.layer)))
const secrets = Secrets.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))
const network = IntercomClient.layer.pipe(Layer.provide(Layer.merge(secrets, Ids.layer)))
const layers = Layer.merge(files, network).pipe(
  // Nothing but frames may reach the terminal.
  Layer.provideMerge(Logger.remove(Logger.defaultLogger))
)
// It never ends, but by a bug.
Effect.runFork(Effect.provide(watch(root, tell), layers)).addObserver(() => process.exit(1))
