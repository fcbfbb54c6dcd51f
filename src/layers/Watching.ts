import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ConfigReader from "./ConfigReader/File.ts"
import * as Ids from "./Ids/Node.ts"
import * as IntercomClient from "./IntercomClient/Http.ts"
import * as ObservationReader from "./ObservationReader/File.ts"
import * as Platform from "./Platform/Node.ts"
import * as ReportStore from "./ReportStore/File.ts"
import * as Secrets from "./Secrets/Existing.ts"
import * as StateDir from "./StateDir/File.ts"

const files = ObservationReader.layer.pipe(Layer.provide(Layer.merge(ConfigReader.layer, ReportStore.layer)))
const secrets = Secrets.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))
const network = IntercomClient.layer.pipe(Layer.provide(Layer.merge(secrets, Ids.layer)))

/** What a monitor reads and asks with: nothing is written, and no line of a log may reach its terminal. */
export const layer = Layer.merge(files, network).pipe(Layer.provideMerge(Logger.remove(Logger.defaultLogger)))
