import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Node from "../../../src/layers/CommandRunner/Node.ts"
import * as Ids from "../../../src/layers/Ids/Node.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import * as StateDir from "../../../src/layers/StateDir/File.ts"
import { CommandRunner } from "../../../src/services/CommandRunner.ts"
import type { Herdr, HerdrPane } from "../../support/herdr/Herdr.ts"
import { platformAs } from "../../support/PlatformAs.ts"

/** The state folder of every session there: its path has to be quoted. */
export const stateOf = (herdr: { readonly home: string }): string => join(herdr.home, "it's a státe")

/** The multiplexers of a session in that pane, and the processes of this machine, all of them real. */
export const at = (herdr: Herdr & { readonly home: string }, pane: HerdrPane) => {
  const variables = { ...herdr.variables(pane), PI_INTERCOM_STATE_DIR: stateOf(herdr) }
  const runner = Layer.effect(
    CommandRunner,
    Effect.map(
      CommandRunner,
      ({ run }) => ({ run: (command, first) => run({ ...command, environment: variables }, first) })
    )
  ).pipe(Layer.provide(Node.layer))
  return Live.layer.pipe(
    Layer.provideMerge(Procfs.layer),
    Layer.provide(Layer.mergeAll(runner, Ids.layer, StateDir.layer)),
    Layer.provide(platformAs("linux")),
    Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
  )
}
