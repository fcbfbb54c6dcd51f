import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import { decodeConfig } from "../../src/domain/TeamConfig.ts"
import { eventually } from "../support/Eventually.ts"
import { newestHost } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import * as TeamScript from "../support/TeamScript.ts"

const coordinatorId = "coordinator-session"
const workerId = "worker-session"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

/** A sentence wherever Pi breaks its lines. */
const words = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s+"))

const agentsOf = (root: string) =>
  Effect.map(
    Effect.suspend(() => decodeConfig(fs.readFileSync(path.join(root, ".pi-intercom/config.json"), "utf8"))),
    ({ agents }) => agents.map(({ coordinator, sessionId }) => [sessionId, coordinator])
  )

const pidOf = (harness: PiHarness.PiHarness, pane: string) =>
  Effect.map(
    eventually(
      `the process of ${pane}`,
      Effect.map(harness.tmux.panes, (rows) => Option.fromNullable(rows.find((row) => row.pane === pane)))
    ),
    ({ pid }) => pid
  )

const names = () => {
  const given = new Map<string, string>()
  return (sessionId: string) => {
    const name = given.get(sessionId) ?? ["Ada", "Ben"][given.size] ?? "Nobody"
    given.set(sessionId, name)
    return name
  }
}

describe("two Pis on one saved session", () => {
  it.scopedLive(
    "the second stays inactive and names the first; once that has quit, /reload is enough",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make("1.6.0", TeamScript.make(names()).script)
        const one = yield* harness.start({ sessionId: coordinatorId })
        yield* one.type("/intercom start")
        yield* one.shows("this session now coordinates the team")
        yield* one.type("hello")
        yield* one.shows("ECHO hello")

        const two = yield* harness.start({ sessionId: coordinatorId, saved: true })
        const sentence = `inactive in this session: This saved session is in use by process ${yield* pidOf(
          harness,
          one.pane
        )} `
        yield* two.shows(words(sentence))
        yield* two.type("from two")
        const request = yield* harness.model.request("the second's turn", (asked) => asked.lastUser === "from two")
        assert.deepStrictEqual(request.tools.filter(({ name }) => name.startsWith("intercom_")), [])

        yield* one.type("/quit")
        yield* one.gone
        yield* two.type("/reload")
        yield* two.shows("Reloaded")
        yield* two.type("/intercom")
        yield* two.shows(/Intercom:\s+coordinator\s+on\s+port/)
      }),
    bound
  )
})

describe.each(newestHost)("/intercom takeover in Pi %s", (version) => {
  it.scopedLive(
    "is refused while the coordinator lives; killed, it is replaced and comes back as a worker",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make(version, TeamScript.make(names()).script)
        const coordinator = yield* harness.start({ sessionId: coordinatorId })
        yield* coordinator.type("/intercom start")
        yield* coordinator.shows("this session now coordinates the team")
        const worker = yield* harness.start({ sessionId: workerId })
        yield* worker.shows("• Ada")
        // Its session is saved by then, so it can be opened again.
        yield* coordinator.shows("ECHO {")

        yield* worker.type("/intercom takeover")
        yield* worker.shows(words("proved to be that session, so nothing was done."))
        assert.deepStrictEqual(yield* agentsOf(harness.project), [[coordinatorId, true], [workerId, false]])

        process.kill(yield* pidOf(harness, coordinator.pane), "SIGKILL")
        yield* coordinator.gone
        yield* worker.type("/intercom takeover")
        yield* worker.shows("Take over the team?")
        yield* worker.shows(words("nothing listens on its port"))
        yield* worker.keys("Enter")
        yield* worker.shows("Not taken over: nothing was changed.")
        assert.deepStrictEqual(yield* agentsOf(harness.project), [[coordinatorId, true], [workerId, false]])
        yield* worker.type("/intercom takeover")
        yield* worker.shows("→ No, change nothing")
        yield* worker.keys("Down", "Enter")
        yield* worker.shows(words("this session now coordinates the team"))
        assert.deepStrictEqual(yield* agentsOf(harness.project), [[workerId, true]])

        const back = yield* harness.start({ sessionId: coordinatorId, saved: true })
        const registration = yield* harness.model.request(
          "the old coordinator's registration at the new one",
          (one) => one.session === workerId && one.lastUser.startsWith("[Intercom registration")
        )
        assert.include(registration.lastUser, `unconfigured session (${coordinatorId})]`)
        yield* back.shows("• Ben")
        assert.deepStrictEqual(yield* agentsOf(harness.project), [[workerId, true], [coordinatorId, false]])
      }),
    bound
  )
})
