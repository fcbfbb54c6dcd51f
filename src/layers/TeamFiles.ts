import * as Layer from "effect/Layer"
import * as ConfigReader from "./ConfigReader/File.ts"
import * as ConfigStore from "./ConfigStore/File.ts"
import * as OwnedLock from "./OwnedLock/File.ts"
import * as ProcessIdentity from "./ProcessIdentity/Procfs.ts"
import * as ProcessLedger from "./ProcessLedger/File.ts"
import * as ProjectDirectories from "./ProjectDirectories/File.ts"
import * as ReportStore from "./ReportStore/File.ts"
import * as Secrets from "./Secrets/File.ts"
import * as StateDir from "./StateDir/File.ts"

/** Everything that a team has on this machine's disk, in the project and in the state folder. */
export const layer = ConfigStore.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(ConfigReader.layer, ProjectDirectories.layer, ReportStore.layer)),
  Layer.provideMerge(Layer.mergeAll(Secrets.layer, OwnedLock.layer, ProcessLedger.layer)),
  Layer.provideMerge(StateDir.layer),
  Layer.provideMerge(ProcessIdentity.layer)
)
