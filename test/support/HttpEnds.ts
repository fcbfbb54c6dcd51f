import * as Layer from "effect/Layer"
import * as IdsNode from "../../src/layers/Ids/Node.ts"
import * as ClientHttp from "../../src/layers/IntercomClient/Http.ts"
import { type Limits, limits } from "../../src/layers/IntercomClient/Limits.ts"
import * as ServerHttp from "../../src/layers/IntercomServer/Http.ts"
import { IntercomClient } from "../../src/services/IntercomClient.ts"
import type { Network } from "./NetworkMemory.ts"

/** From now on the sessions of this simulated machine speak real HTTP with each other, and with whoever is there. */
export const overHttp = <M extends { readonly network: Network }>(machine: M, changed: Partial<Limits> = {}): M => {
  const client = Layer.effect(IntercomClient, ClientHttp.makeWith({ ...limits, ...changed }))
  Object.assign(machine.network, { ends: Layer.merge(ServerHttp.layer, Layer.provide(client, IdsNode.layer)) })
  return machine
}
