import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { join } from "node:path"
import * as Small from "../../monitor/Small.ts"
import { node22 } from "../../test/support/HostVersions.ts"
import { hungTeam, startMs } from "./MonitorFirst.ts"
import { observedTeam } from "./ObservedTeam.ts"

class Failed extends Data.TaggedError("Failed")<{ readonly message: string }> {}

const decode = Schema.decodeUnknown(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Number })))

/** Runs a script of this folder in a process of its own, with what the monitor gives the process it measures. */
const measured = (script: string, as: Shipped, folder: string) =>
  Effect.async<string, Failed>((resume) => {
    const args = [...as.flags, "--no-warnings", join(import.meta.dirname, script), folder]
    execFile(
      node22,
      args,
      { env: { ...process.env, ...as.environment } },
      (error, stdout, stderr) =>
        resume(error === null ? Effect.succeed(stdout) : Effect.fail(new Failed({ message: `${script}: ${stderr}` })))
    )
  }).pipe(Effect.flatMap(decode))

interface Shipped {
  readonly flags: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

/** What monitor/main.ts sets for itself. */
const shows: Shipped = { flags: ["--optimize-for-size"] }

/** The monitor's passes, frames and start with 256 workers. */
export const figures = (folder: string) =>
  Effect.gen(function*() {
    const root = join(folder, "observed")
    // By another process than the one that reads it: what making it leaves in memory would be measured too.
    yield* observedTeam(root)
    const hung = join(folder, "hung")
    yield* hungTeam(hung)
    return {
      ...(yield* measured("MonitorRead.ts", Small, root)),
      ...(yield* measured("MonitorFrame.ts", shows, root)),
      ...(yield* measured("MonitorPaint.ts", Small, hung)),
      "monitor.startHungMs": yield* startMs(folder, hung)
    }
  })
