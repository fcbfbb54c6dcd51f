import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { join } from "node:path"
import { names, recordsIn } from "../layers/ObservationLog/Place.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { call, say } from "../support/ScriptedModel.ts"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

describe("the log of a real Pi", () => {
  it.scopedLive(
    "says what it did, nothing of what it was about, and is closed when Pi ends",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make("1.6.0", (request) =>
          request.fresh.some(({ role }) =>
              role === "tool"
            ) || !request.lastUser.includes("payroll")
            ? say(`ECHO ${request.lastUser}`)
            : call("bash", { command: "echo lookup-of-the-fox" }))
        const logs = join(harness.project, ".pi-intercom", "logs")
        const pi = yield* harness.start()
        yield* pi.type("/intercom start")
        yield* pi.shows("now coordinates the team")
        yield* pi.type("the payroll of the fox")
        yield* pi.shows("ECHO the payroll of the fox")
        const records = () => names(logs).flatMap((name) => recordsIn(join(logs, name)))
        yield* eventuallyTrue(
          "the turn is recorded",
          Effect.sync(() => records().some(({ detail, event }) => event === "host.activity" && detail === "settled"))
        )
        const text = names(logs).map((name) => fs.readFileSync(join(logs, name), "utf8")).join("")
        for (const word of ["payroll", "fox", "ECHO", "lookup", harness.project, harness.home]) {
          assert.notInclude(text, word)
        }
        yield* pi.type("/quit")
        yield* pi.gone
        assert.match(names(logs).join(" "), /^writer-[0-9a-f-]{36}\.jsonl\.closed$/)
        const all = records()
        assert.deepStrictEqual([all[0]?.event, all.at(-1)?.event], ["runtime.starting", "runtime.closed"])
        assert.deepStrictEqual([...new Set(all.map(({ sessionId }) => sessionId))], [pi.sessionId])
        const details = all.filter(({ event }) => event === "host.activity").map(({ detail }) => detail)
        assert.includeMembers(details, ["processing", "running_command", "responding", "settled"])
      }),
    bound
  )
})
