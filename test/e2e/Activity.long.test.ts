import { describe } from "@effect/vitest"
import { hostVersions } from "../support/HostVersions.ts"
import { activity, every, oneRefresh } from "./ActivityScenarios.ts"

describe.each(hostVersions)("all that a worker in Pi %s does", (version) => activity(version, every, oneRefresh))
