import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConfigStore } from "../../src/services/ConfigStore.ts"
import { makeTeamWorld } from "../support/ConfigMemory.ts"
import { makeLedgerMemory } from "../support/LedgerMemory.ts"
import { makeLockWorld } from "../support/LockMemory.ts"
import { makeReportMemory } from "../support/ReportMemory.ts"
import { makeMachineOn } from "../support/SimulatedTeam.ts"
import * as StateMemory from "../support/StateMemory.ts"
import { settle } from "../support/TeamSteps.ts"

/** The memory's files, but a publication goes on only when told: the file is there, its publisher is still at it. */
const slowly = (published: Deferred.Deferred<void>, goOn: Deferred.Deferred<void>) => {
  const slow = Layer.effect(
    ConfigStore,
    Effect.map(ConfigStore, (store) =>
      ConfigStore.of({
        ...store,
        publish: (root, config, fence) =>
          store.publish(root, config, fence).pipe(
            Effect.tap(() => Deferred.succeed(published, undefined)),
            Effect.tap(() => Deferred.await(goOn))
          )
      }))
  ).pipe(Layer.provideMerge(makeTeamWorld("/work").layer))
  return makeMachineOn(
    Layer.mergeAll(slow, StateMemory.layer, makeReportMemory(), makeLedgerMemory().layer),
    makeLockWorld().layerFor
  )
}

describe("registration at a coordinator that has just published (spec 1.3, 3.2)", () => {
  it.scoped("a worker that finds the file before the publisher has gone on is heard", () =>
    Effect.gen(function*() {
      const [published, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const machine = slowly(published, goOn)
      const coordinator = yield* machine.open("s-1", "/work")
      const publishing = yield* Effect.fork(coordinator.command("start"))
      yield* Deferred.await(published)
      const worker = yield* machine.open("s-2", "/work")
      yield* settle
      yield* Deferred.succeed(goOn, undefined)
      assert.include(yield* publishing, "now coordinates")
      yield* settle
      assert.deepStrictEqual(worker.host.notices, [])
      assert.include(coordinator.host.texts.join("\n"), "[Intercom registration from unconfigured session (s-2)]")
    }))
})
