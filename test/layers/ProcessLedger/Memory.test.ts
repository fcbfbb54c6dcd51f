import * as Effect from "effect/Effect"
import { makeLedgerMemory } from "../../support/LedgerMemory.ts"
import { contract } from "./Contract.ts"

contract("memory", Effect.sync(() => ({ layer: makeLedgerMemory().layer, root: "/team", other: "/other" })))
