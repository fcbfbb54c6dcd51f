import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { eventuallyTrue } from "../support/Eventually.ts"
import { hostVersions } from "../support/HostVersions.ts"
import { team } from "./TeamScenarios.ts"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

describe.each(hostVersions)("in Pi %s", (version) => {
  it.scopedLive(
    "the coordinator keeps its team in sight, and the doctor says what is wrong until it is mended",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness } = yield* team(version, "tmux")
        yield* coordinator.type("/intercom doctor")
        yield* coordinator.shows("Intercom: nothing wrong was found in")
        assert.notMatch(yield* coordinator.screen, /Intercom: \d+ (idle|unknown)/)

        const worker = yield* harness.start({ sessionId: "worker-session" })
        yield* worker.shows("• Ada")
        yield* coordinator.shows(/^ *Intercom: 1 idle/m)
        assert.notMatch(yield* worker.screen, /Intercom: 1 idle/)

        const file = path.join(harness.project, ".pi-intercom/config.json")
        const good = fs.readFileSync(file)
        fs.writeFileSync(file, "{")
        yield* coordinator.shows("Intercom: the team file cannot be used, see /intercom doctor")
        yield* coordinator.type("/intercom doctor")
        yield* coordinator.shows(/config\.json cannot be used for a\s+team: it is not valid JSON/)
        yield* coordinator.shows("[config_invalid]")
        const other = yield* harness.start()
        yield* other.shows(/Intercom is inactive in this session/)
        yield* other.type("/intercom doctor")
        yield* other.shows("[config_invalid]")

        fs.writeFileSync(file, good)
        yield* eventuallyTrue(
          "the line of the team",
          Effect.map(coordinator.screen, (screen) => /^ *Intercom: 1 idle/m.test(screen))
        )
        yield* other.type("/reload")
        yield* other.shows("• Ben")
        yield* other.type("/intercom doctor")
        yield* other.shows("Intercom: nothing wrong was found in")
      }),
    bound
  )
})
