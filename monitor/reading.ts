import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { spawn } from "node:child_process"
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
// While the system keeps this process in a read, nothing of it runs. So a shell, far smaller than a thread would be, waits
// for the end of the input, which is that of the monitor whatever ended it, and ends their process group: both of them,
// since main.ts starts this one as the leader of its own.
if (process.connected && process.platform !== "win32") {
  const both = spawn("/bin/sh", ["-c", "read _; kill -9 0"], { stdio: ["inherit", "ignore", "ignore"] })
  // Without a shell there is still the above.
  both.on("error", () => undefined).unref()
}
// Told when the system has taken all of it, which it does not while the monitor is stopped and what it was sent fills up.
const tell = posting((post) =>
  Effect.async<void>((resume) => {
    process.send?.(post, undefined, undefined, () => resume(Effect.void))
  })
)

const files = ObservationReader.layer.pipe(Layer.provide(Layer.merge(ConfigReader.layer, ReportStore.layer)))
const secrets = Secrets.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))
const network = IntercomClient.layer.pipe(Layer.provide(Layer.merge(secrets, Ids.layer)))
const layers = Layer.merge(files, network).pipe(
  // Nothing but frames may reach the terminal.
  Layer.provideMerge(Logger.remove(Logger.defaultLogger))
)
// It never ends, but by a bug.
Effect.runFork(Effect.provide(watch(root, tell), layers)).addObserver(() => process.exit(1))
