import { describe } from "@effect/vitest"
import { newestHost } from "../support/HostVersions.ts"
import { launching, talking } from "./TeamScenarios.ts"

describe.each(newestHost)("a team in Pi %s in tmux", (version) => {
  talking(version, "tmux")
  launching(version, "tmux")
})

// What does not depend on the multiplexer runs in Herdr in Herdr.long.test.ts.
describe("a team in Pi 1.6.0 in Herdr", () => launching("1.6.0", "herdr"))
