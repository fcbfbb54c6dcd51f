import { describe } from "@effect/vitest"
import { hostVersions } from "../support/HostVersions.ts"
import { launching, talking } from "./TeamScenarios.ts"
import { bodiesArrive, foldersOpen } from "./TextScenarios.ts"

// Everything that runs in tmux, in Herdr; npm test has what Herdr does itself.
describe.each(hostVersions)("a team in Pi %s in Herdr", (version) => {
  talking(version, "herdr")
  launching(version, "herdr")
})

describe("texts and folders in real Pi in Herdr", () => {
  bodiesArrive("herdr")
  foldersOpen("herdr")
})
