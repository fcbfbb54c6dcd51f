import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as Watching from "../src/layers/Watching.ts"
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

// It never ends, but by a bug.
Effect.runFork(Effect.provide(watch(root, tell), Watching.layer)).addObserver(() => process.exit(1))
