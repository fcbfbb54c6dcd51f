import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { eventually, eventuallyTrue } from "../support/Eventually.ts"
import { hostVersions } from "../support/HostVersions.ts"
import { isRunning } from "../support/Processes.ts"
import { launching, talking, team } from "./TeamScenarios.ts"
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

describe.each(hostVersions)("a herdr that hangs when Pi %s launches", (version) => {
  it.scopedLive(
    "is ended after 40 s or by Escape; the session serves meanwhile, and the model is told the truth",
    () =>
      Effect.gen(function*() {
        const { coordinator, harness, model } = yield* team(version, "herdr")
        const { herdr } = harness
        if (herdr === undefined) return assert.fail("no Herdr")
        const hung = (n: number) =>
          eventually(
            "the call that hangs",
            Effect.map(
              herdr.calls,
              (all) => Option.fromNullable(all.filter((call) => call.command === "tab create")[n - 1]?.pid)
            )
          )
        const tabs = Effect.map(
          harness.tmux.panes,
          (rows) => rows.filter((row) => row.window === "Intercom (anonymous)").length
        )

        yield* herdr.faults({ does: "hang", when: "after", command: "tab create" })
        yield* coordinator.type("create worker")
        const first = yield* hung(1)
        yield* coordinator.type("/intercom")
        yield* coordinator.shows("Intercom: coordinator on port")
        assert.isTrue(isRunning(first))
        const told = yield* model.request(
          "the result of the launch",
          ({ lastRole, messages, session }) =>
            session === coordinator.sessionId && lastRole === "tool" &&
            messages.at(-1)?.text.includes("was launched: ") === true
        )
        assert.include(
          told.messages.at(-1)?.text,
          "It is not known whether the worker was launched: herdr did not answer in time and was ended. " +
            "A tab may have been opened; look before you create another worker."
        )
        assert.isFalse(isRunning(first))
        assert.strictEqual(yield* tabs, 1)

        yield* coordinator.type("create worker")
        const second = yield* hung(2)
        yield* coordinator.keys("Escape")
        yield* eventuallyTrue(
          "the end of herdr",
          Effect.sync(() => !isRunning(second)),
          undefined,
          "10 seconds"
        )
        assert.deepStrictEqual((yield* herdr.calls).filter((call) => call.command === "pane run"), [])
      }),
    240_000
  )
})
