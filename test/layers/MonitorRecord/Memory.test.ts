import * as Effect from "effect/Effect"
import { makeMonitorRecords } from "../../support/MonitorRecordsMemory.ts"
import { contract } from "./Contract.ts"

contract("memory", Effect.sync(() => ({ layer: makeMonitorRecords().layer, root: "/team", other: "/other" })))
