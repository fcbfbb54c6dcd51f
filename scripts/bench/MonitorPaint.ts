import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { posting, telling } from "../../monitor/News.ts"
import { session } from "../../monitor/Session.ts"
import { coloured } from "../../monitor/Style.ts"
import { watch } from "../../monitor/Watch.ts"
import * as Watching from "../../src/layers/Watching.ts"
import { median, repeated, round } from "./Measure.ts"
import { workers } from "./ObservedTeam.ts"

/**
 * From the start of a monitor's work on a team that it knows nothing of to its first frame with workers, in ms: without the
 * start of Node, in a process that has done it before, and with the copy that goes from one of its processes to the other.
 * No endpoint is waited for, since none is asked before that frame.
 */
const firstPaint = (root: string) =>
  Effect.gen(function*() {
    const begin = performance.now()
    const shown = session(root, "0.1.0", coloured, Date.now())
    const arrive = telling(shown.learn)
    const painted = yield* Deferred.make<number>()
    const working = yield* Effect.forkScoped(Effect.provide(
      watch(
        root,
        posting((post) => {
          arrive(structuredClone(post))
          const frame = shown.draw({ width: 120, height: 40 }, Date.now())
          if (post._tag !== "Read" || post.snapshot.ids.length !== workers || !/Worker \d/.test(frame)) {
            return Effect.dieMessage(`the first frame is another: ${frame}`)
          }
          return Deferred.succeed(painted, performance.now() - begin)
        })
      ),
      Watching.layer
    ))
    return yield* Effect.raceFirst(Deferred.await(painted), Fiber.join(working))
  }).pipe(Effect.scoped)

const figures = (root: string) =>
  Effect.flatMap(
    repeated(firstPaint(root), { warmUp: 10, counted: 21 }),
    (all) => Console.log(JSON.stringify({ "monitor.firstPaintHungMs": round(median(all), 1) }))
  )

NodeRuntime.runMain(figures(process.argv[2] ?? ""))
