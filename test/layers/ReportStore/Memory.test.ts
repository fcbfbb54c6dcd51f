import * as Effect from "effect/Effect"
import { makeReportMemory } from "../../support/ReportMemory.ts"
import { contract } from "./Contract.ts"

contract("memory", Effect.sync(() => ({ layer: makeReportMemory(), root: "/team", other: "/other" })))
