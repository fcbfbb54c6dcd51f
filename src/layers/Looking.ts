import * as Layer from "effect/Layer"
import * as CommandRunner from "./CommandRunner/Node.ts"
import * as ConfigReader from "./ConfigReader/File.ts"
import * as Ids from "./Ids/Node.ts"
import * as Inspection from "./Inspection/File.ts"
import * as IntercomClient from "./IntercomClient/Http.ts"
import * as ObservationReader from "./ObservationReader/File.ts"
import * as Platform from "./Platform/Node.ts"
import * as ProcessIdentity from "./ProcessIdentity/Procfs.ts"
import * as ProjectDirectories from "./ProjectDirectories/File.ts"
import * as ReportStore from "./ReportStore/File.ts"
import * as Secrets from "./Secrets/Existing.ts"
import * as StateDir from "./StateDir/File.ts"

/** What examines a team on this machine, whoever runs it: nothing here is asked to write. */
export const layer = Layer.mergeAll(
  Inspection.layer,
  Layer.provide(IntercomClient.layer, Secrets.layer),
  ObservationReader.layer,
  ProjectDirectories.layer
).pipe(
  Layer.provideMerge(Layer.merge(ConfigReader.layer, ReportStore.layer)),
  Layer.provideMerge(Layer.mergeAll(StateDir.layer, ProcessIdentity.layer)),
  Layer.provideMerge(Layer.mergeAll(CommandRunner.layer, Ids.layer, Platform.layer))
)
