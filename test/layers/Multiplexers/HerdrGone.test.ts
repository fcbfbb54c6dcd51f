import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { PaneTrace } from "../../../src/domain/Pane.ts"
import type { VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { answer, error, herdr, inside, pane, server, type Setting, use } from "./HerdrWorld.ts"

describe("proving a pane of Herdr gone", () => {
  const list = (...panes: ReadonlyArray<object>) => answer("pane_list", { panes })
  const inW2 = (number: number, changed: object = {}) => pane(number, { workspace_id: "w2", ...changed })
  const target: PaneTrace = { multiplexer: "herdr", workspaceId: `${server}w1`, paneId: "w1:p7", terminalId: "term-7" }
  const whole = list(pane(1), pane(8), inW2(9))

  interface Row {
    readonly when: string
    readonly gone?: true
    /** The list of its workspace. */
    readonly inIt?: Behaviour
    readonly all?: Behaviour
    readonly trace?: Partial<PaneTrace>
  }
  const ofW2 = { workspaceId: `${server}w2`, paneId: "w2:p7" }
  const doubts: ReadonlyArray<readonly [when: string, Behaviour]> = [
    ["is empty", list()],
    ["lacks this session's pane too", list(pane(8))],
    ["has no panes", answer("pane_list", {})],
    ["has a pane without an id", list(pane(1), pane(8, { pane_id: "" }))],
    ["has a pane without a terminal", list(pane(1), pane(8, { terminal_id: undefined }))],
    ["is an error: the server is gone", error("server_not_running")],
    ["is cut", { stdout: `${whole.stdout?.slice(0, -4)}` }],
    ["is too long", { stdout: " ".repeat(1024 * 1024 + 1) }],
    ["does not come: herdr is not there", { fails: "missing" }]
  ]
  const rows: ReadonlyArray<Row> = [
    { when: "both lists lack it", gone: true },
    { when: "both lists lack it, of another workspace", gone: true, inIt: list(inW2(9)), trace: ofW2 },
    { when: "its workspace's list has it", inIt: list(pane(1), pane(7)) },
    { when: "it was moved: its terminal has another id", all: list(pane(1), inW2(7, { pane_id: "w2:p30" })) },
    {
      when: "the list of all has its id with another terminal",
      all: list(pane(1), pane(7, { terminal_id: "term-70" }))
    },
    { when: "the list of its workspace is another workspace's", inIt: list(pane(1), inW2(9)) },
    { when: "its workspace is gone", inIt: error("workspace_not_found") },
    ...doubts.flatMap(([when, behaviour]): ReadonlyArray<Row> => [
      { when: `its workspace's list ${when}`, inIt: behaviour },
      { when: `the list of all ${when}`, all: behaviour }
    ]),
    { when: "its id is none", trace: { paneId: "-x" } },
    { when: "its terminal's id is none", trace: { terminalId: "-x" } },
    { when: "its workspace's id is none", trace: { workspaceId: server } }
  ]
  const look = (
    { all = whole, inIt = list(pane(1), pane(8)), trace = {} }: Omit<Row, "when">,
    setting: Setting = {}
  ) => {
    const script = herdr({ "pane list --workspace": inIt, "pane list": all })
    return Effect.map(
      use(script, (multiplexer) => multiplexer.gone({ ...target, ...trace }), setting),
      (gone) => ({ gone, script })
    )
  }
  for (const row of rows) {
    it.effect(`${row.gone ? "proves it" : "proves nothing"} when ${row.when}`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* look(row)).gone, row.gone ?? false)
      }))
  }

  it.effect("asks for the workspace it was opened in, then for all", () =>
    Effect.gen(function*() {
      const { script } = yield* look({})
      assert.deepStrictEqual(script.calls.map((call) => call.args), [
        ["pane", "current", "--current"],
        ["pane", "list", "--workspace", "w1"],
        ["pane", "list"]
      ])
    }))

  it.effect("proves nothing without a terminal: the pane may have been moved", () =>
    Effect.gen(function*() {
      const script = herdr({ "pane list": whole })
      const { terminalId: _, ...without } = target
      assert.isFalse(yield* use(script, (multiplexer) => multiplexer.gone(without)))
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("proves nothing of another server's pane, or where none is named: the same ids are other panes there", () =>
    Effect.gen(function*() {
      for (const workspaceId of ["w1", "000000000000:w1", ":w1"]) {
        const { gone, script } = yield* look({ trace: { workspaceId } })
        assert.isFalse(gone)
        assert.lengthOf(script.calls, 0)
      }
      const unnamed = { variables: { ...inside, HERDR_SOCKET_PATH: "" } }
      for (const workspaceId of [`${server}w1`, "w1", "47DEQpj8HBSa:w1"]) {
        assert.isFalse((yield* look({ trace: { workspaceId } }, unnamed)).gone)
      }
    }))

  it.effect("proves nothing from outside Herdr: which one would answer is not known", () =>
    Effect.gen(function*() {
      const { gone, script } = yield* look({}, { variables: { HERDR_SOCKET_PATH: inside.HERDR_SOCKET_PATH } })
      assert.isFalse(gone)
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("of a verified pane asks the two lists only, which must have who verified it", () =>
    Effect.gen(function*() {
      const verified = { workspaceId: "w1", paneId: "w1:p7", terminalId: "term-7", firstPid: undefined }
      const verifier = { workspaceId: "w1", paneId: "w1:p1", terminalId: "term-1" }
      const isGone = (asked: VerifiedPane, all: Behaviour = whole) => {
        const script = herdr({ "pane list --workspace": list(pane(1), pane(8)), "pane list": all })
        return Effect.map(use(script, (multiplexer) => multiplexer.isGone(asked)), (gone) => ({ gone, script }))
      }
      const { gone, script } = yield* isGone({ ...verified, verifier })
      assert.isTrue(gone)
      assert.lengthOf(script.calls, 2)
      assert.isFalse((yield* isGone({ ...verified, verifier: { ...verifier, paneId: "w1:p2" } })).gone)
      assert.isFalse((yield* isGone(verified)).gone, "nobody is named who verified it")
      const moved = list(pane(1), inW2(7, { pane_id: "w2:p30" }))
      assert.isFalse((yield* isGone({ ...verified, verifier }, moved)).gone, "it was moved to another workspace")
    }))
})
