import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ConfigReader from "../../src/layers/ConfigReader/File.ts"
import * as Reader from "../../src/layers/ObservationReader/File.ts"
import * as Reports from "../../src/layers/ReportStore/File.ts"
import { ObservationReader } from "../../src/services/ObservationReader.ts"
import { median, repeated, round, timed } from "./Measure.ts"
import { workers } from "./ObservedTeam.ts"

/** A view in which not every worker is seen would be a figure of something else. */
class Unseen extends Data.TaggedError("Unseen")<{ readonly message: string }> {}

/** A reader that has read nothing yet. */
const fresh = Layer.build(
  Reader.layer.pipe(Layer.provideMerge(Layer.merge(ConfigReader.layer, Reports.layer)))
).pipe(Effect.map((built) => Context.get(built, ObservationReader)))

const refresh = (reader: ObservationReader["Type"], root: string) =>
  Effect.flatMap(reader.snapshot(root), (view) => {
    const seen = view.workers.filter(({ report, seen }) => seen.observedStatus === "idle" && report !== undefined)
    return seen.length === workers && !view.truncated && view.errors.length === 0
      ? Effect.void
      : Effect.fail(new Unseen({ message: `${seen.length} of ${workers} workers were seen` }))
  })

/** A team as `observedTeam` makes it, all of it read by a reader that knows nothing, and read again. */
const figures = (root: string) =>
  Effect.gen(function*() {
    const full = Effect.scoped(Effect.flatMap(fresh, (reader) => timed(refresh(reader, root))))
    const refreshed = yield* repeated(full, { warmUp: 10, counted: 21 })
    const reader = yield* fresh
    const again = yield* repeated(timed(refresh(reader, root)), { warmUp: 20, counted: 51 })
    return {
      "monitor.refreshMs": round(median(refreshed), 1),
      "monitor.unchangedMs": round(median(again), 1)
    }
  }).pipe(Effect.scoped, Effect.flatMap((found) => Console.log(JSON.stringify(found))))

NodeRuntime.runMain(figures(process.argv[2] ?? ""))
