import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { writeBuild } from "../support/Built.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { newestHost } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { say } from "../support/ScriptedModel.ts"
import { team } from "./TeamScenarios.ts"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

describe.each(newestHost)("in Pi %s", (version) => {
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

  it.scopedLive(
    "of two copies, an installed and a named one, both doctors say the same, until the advice was followed",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make(version, () => say("hello"))
        const folder = yield* harness.folder("package")
        fs.mkdirSync(path.join(folder, "dist"))
        yield* writeBuild(path.join(folder, "dist"))
        const manifest = { name: "pi-intercom-effect", version: "0.1.0", pi: { extensions: ["./dist/extension.js"] } }
        fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest))
        const manage = (...args: ReadonlyArray<string>) => {
          const { argv: [program, ...rest], environment } = harness.command({ extensions: [], args })
          return execFileSync(program, rest, { cwd: harness.project, env: environment, encoding: "utf8" })
        }
        manage("install", folder)
        // Pi shows only the last of two texts: each doctor is asked in a Pi of its own.
        const said = yield* Effect.forEach(["/intercom:1 doctor", "/intercom:2 doctor"], (command) =>
          Effect.gen(function*() {
            const pi = yield* harness.start()
            // The second one keeps out, and names its own command: the first one's need not have a doctor.
            yield* pi.shows(/Type\s+\/intercom:2 doctor/)
            yield* pi.type(command)
            yield* pi.shows("[other_copy]")
            return /Intercom: 1 finding in .*?\[other_copy\]/.exec((yield* pi.screen).replace(/\s+/g, " "))?.[0]
          }))
        assert.strictEqual(said[0], said[1])
        assert.match(
          said[0] ?? "",
          /1\. This Pi has loaded 2 copies of Intercom, .*extension\.js: only one of them works/
        )
        assert.match(said[0] ?? "", /start Pi without that -e\./)
        const [, source = ""] = /run pi remove (\S+)\. /.exec(said[0] ?? "") ?? []
        manage("remove", source)
        const after = yield* harness.start()
        yield* after.type("/intercom doctor")
        yield* after.shows("Intercom: nothing wrong was found in")
      }),
    bound
  )
})
