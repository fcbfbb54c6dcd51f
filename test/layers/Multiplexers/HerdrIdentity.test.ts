import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import { IdentityFailed } from "../../../src/domain/Pane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { answer, called, error, garbled, herdr, outOfHerdr, pane, processes, type Setting, use } from "./HerdrWorld.ts"

const worker: PaneIdentity = {
  workspaceId: "w1",
  paneId: "w1:p7",
  terminalId: "term-7",
  sessionId: SessionId.make("w-1"),
  sessionFile: "/nowhere/s.jsonl",
  pid: 70,
  processStart: "500"
}
const environ = (value: string) => processes({ environment: () => Effect.succeed(Option.some(value)) })
const inPane = (changed: object = {}) => answer("pane_info", { pane: pane(7, changed) })
const runs = (...pids: ReadonlyArray<number>) =>
  answer("pane_process_info", {
    process_info: { pane_id: "w1:p7", foreground_processes: pids.map((pid) => ({ pid, name: "node" })) }
  })

const verify = (
  told: Readonly<Record<string, Behaviour>> = {},
  identity: Partial<PaneIdentity> = {},
  setting: Setting = { processes: environ("w1:p7") }
) => {
  const script = herdr({ "pane get": inPane(), "pane process-info": runs(70), ...told })
  return Effect.either(
    use(script, (multiplexer) => multiplexer.verify({ ...worker, ...identity }, SessionId.make("c-1")), setting)
  ).pipe(Effect.map((outcome) => ({ script, says: outcome._tag === "Left" ? outcome.left.detail : undefined })))
}

const notTheSame = "Herdr has another pane or terminal under its id"
const withFacts = (changed: object) =>
  processes({
    environment: () => Effect.succeed(Option.some("w1:p7")),
    facts: (pid) =>
      Effect.succeed({
        startTicks: "500",
        state: "S",
        session: 1,
        tty: { major: 136, minor: 1 },
        uid: 1000,
        ...(pid === 70 ? changed : {})
      })
  })

describe("verifying a pane of Herdr", () => {
  it.effect("passes by the process's own environment where Pi's integration is not installed", () =>
    Effect.gen(function*() {
      for (const changed of [{}, { agent: "pi" }, { agent: null, agent_session: null }]) {
        const { says, script } = yield* verify({ "pane get": inPane(changed), "pane process-info": runs(69, 70) })
        assert.isUndefined(says)
        assert.deepStrictEqual(script.calls.map((call) => call.args), [
          ["pane", "current", "--current"],
          ["pane", "get", "w1:p7"],
          ["pane", "process-info", "--pane", "w1:p7"]
        ])
      }
    }))

  const rows: ReadonlyArray<
    readonly [when: string, says: string, told?: Record<string, Behaviour>, Partial<PaneIdentity>?, Setting?]
  > = [
    ["the ids are none", "what should be Herdr's ids are none", {}, { paneId: "--all" }],
    ["the terminal is none", "what should be Herdr's ids are none", {}, { terminalId: "" }],
    ["this session is outside Herdr", outOfHerdr, {}, {}, { variables: {} }],
    ["the pane is gone", "Herdr does not know that pane any more", { "pane get": error("pane_not_found") }],
    ["herdr answers garbage", garbled, { "pane get": { stdout: "{}" } }],
    ["another pane is answered", notTheSame, { "pane get": inPane({ pane_id: "w1:p8" }) }],
    ["the terminal is another", notTheSame, { "pane get": inPane({ terminal_id: "term-9" }) }],
    ["the pane was moved", notTheSame, { "pane get": inPane({ workspace_id: "w2" }) }],
    [
      "it is in another workspace",
      "it is not in this session's Herdr workspace",
      { "pane get": inPane({ workspace_id: "w2" }) },
      { workspaceId: "w2" }
    ],
    ["another agent runs there", "Herdr sees another program than Pi in it", {
      "pane get": inPane({ agent: "claude" })
    }],
    [
      "its process is not in the foreground",
      "its process does not run in the foreground there",
      { "pane process-info": runs(69) }
    ],
    [
      "nothing is in the foreground",
      "its process does not run in the foreground there",
      { "pane process-info": answer("pane_process_info", { process_info: { pane_id: "w1:p7" } }) }
    ],
    [
      "another pane's processes are answered",
      "its process does not run in the foreground there",
      {
        "pane process-info": answer("pane_process_info", {
          process_info: { pane_id: "w1:p8", foreground_processes: [{ pid: 70, name: "node" }] }
        })
      }
    ],
    ["its environment names no pane", "its process was not started in that pane", {}, {}, {}],
    [
      "its environment names another pane",
      "its process was not started in that pane",
      {},
      {},
      { processes: environ("w1:p70") }
    ],
    [
      "its environment cannot be read",
      "no look",
      {},
      {},
      { processes: processes({ environment: () => new IdentityFailed({ detail: "no look" }) }) }
    ],
    [
      "it is this session's own pane",
      "it is this session's own pane",
      {
        "pane get": answer("pane_info", { pane: pane(1) }),
        "pane process-info": answer("pane_process_info", {
          process_info: { pane_id: "w1:p1", foreground_processes: [{ pid: 70, name: "node" }] }
        })
      },
      { paneId: "w1:p1", terminalId: "term-1" },
      { processes: environ("w1:p1") }
    ],
    ["its process is this one", "its process is this session's own", { "pane process-info": runs(10) }, { pid: 10 }],
    ["its session is this one", "its session is this one", {}, { sessionId: SessionId.make("c-1") }],
    [
      "its process belongs to another user",
      "its process belongs to another user",
      {},
      {},
      { processes: withFacts({ uid: 0 }) }
    ],
    ["its pid was given out again", "its process has ended", {}, {}, { processes: withFacts({ startTicks: "501" }) }],
    ["its process has ended", "its process has ended", {}, {}, { processes: withFacts({ state: "Z" }) }]
  ]
  for (const [when, expected, told, identity, setting] of rows) {
    it.effect(`fails when ${when}`, () =>
      Effect.gen(function*() {
        const { says, script } = yield* verify(told, identity, setting)
        assert.strictEqual(says, expected)
        assert.strictEqual(new Set(called(script)).size, script.calls.length, "nothing was asked twice")
      }))
  }

  it.scopedLive("believes Herdr's agent session only when it is that file, links of its folder resolved", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [real, link, other] = ["real", "link", "other"].map((name) => path.join(folder, name))
      fs.mkdirSync(`${real}`)
      fs.mkdirSync(`${other}`)
      fs.symlinkSync(`${real}`, `${link}`)
      const session = (changed: object) => ({
        agent: "pi",
        agent_session: { source: "herdr:pi", agent: "pi", kind: "path", value: `${link}/s.jsonl`, ...changed }
      })
      const look = (changed: object, sessionFile = `${real}/s.jsonl`) =>
        Effect.map(
          // The environment names another pane: it must not be asked when Herdr knows the session.
          verify({ "pane get": inPane(session(changed)) }, { sessionFile }, { processes: environ("w1:p70") }),
          ({ says }) => says
        )
      assert.isUndefined(yield* look({}))
      const another = "Herdr sees another session in it"
      assert.strictEqual(yield* look({ source: "herdr:claude" }), another)
      assert.strictEqual(yield* look({ kind: "id" }), another)
      assert.strictEqual(yield* look({ value: `${real}/t.jsonl` }), another)
      assert.strictEqual(yield* look({ value: `${other}/s.jsonl` }), another)
      assert.strictEqual(yield* look({ value: "s.jsonl" }), "its session file has no absolute path")
      assert.strictEqual(yield* look({}, "real/s.jsonl"), "its session file has no absolute path")
      assert.strictEqual(yield* look({}, `${folder}/gone/s.jsonl`), "the folder of its session file is not there")
    }))
})
