import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { ConfigReader } from "../../../src/services/ConfigReader.ts"
import { ObservationLog } from "../../../src/services/ObservationLog.ts"
import { ObservationReader } from "../../../src/services/ObservationReader.ts"
import { ReportStore } from "../../../src/services/ReportStore.ts"
import { makeObservationWorld } from "../../support/ObservationMemory.ts"
import { makeReportMemory } from "../../support/ReportMemory.ts"
import { contract } from "./Contract.ts"
import { teamOf } from "./Place.ts"

contract(
  "memory",
  Effect.gen(function*() {
    const world = makeObservationWorld()
    const config = teamOf(["ada", "ben", "cleo"])
    const configs = Layer.succeed(ConfigReader, {
      discover: () => Effect.succeed(Option.some("/team")),
      read: (root) => Effect.succeed(root === "/team" ? Option.some(config) : Option.none())
    })
    const built = yield* Layer.build(
      world.reader.pipe(Layer.provideMerge(Layer.merge(configs, makeReportMemory())))
    )
    const session = (id: string) =>
      Effect.gen(function*() {
        const scope = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
        const log = Context.get(yield* Layer.buildWithScope(world.session(id).layer, scope), ObservationLog)
        return { log, close: Scope.close(scope, Exit.void) }
      })
    return {
      root: "/team",
      nowhere: "/",
      reader: Context.get(built, ObservationReader),
      reports: Context.get(built, ReportStore),
      session
    }
  })
)
