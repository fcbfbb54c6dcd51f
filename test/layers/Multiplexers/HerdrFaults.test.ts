import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import type { LaunchFailed } from "../../../src/domain/Launch.ts"
import { LaunchScripts } from "../../../src/services/LaunchScripts.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import {
  answer,
  called,
  created,
  current,
  error,
  garbled,
  herdr,
  inside,
  launch,
  outOfHerdr,
  pane,
  request,
  type Setting,
  trace,
  use
} from "./HerdrWorld.ts"

const noTab = " No tab was opened."
const perhaps = " A tab may have been opened; look before you create another worker."
const leftBehind = " The Herdr tab w1:t7 with the pane w1:p7 may have been left behind; " +
  "nothing was cleaned up and nothing was tried again."
const slow = "herdr did not answer in time and was ended"

interface Fault extends Setting {
  readonly when: string
  readonly told?: Readonly<Record<string, Behaviour>>
  readonly directory?: string
  readonly root?: string
  readonly reason: LaunchFailed["reason"]
  readonly says: string
  readonly left: typeof noTab | typeof perhaps | typeof leftBehind
  readonly calls: ReadonlyArray<string>
}

const [asks, opens, types] = [
  ["pane current"],
  ["pane current", "tab create"],
  ["pane current", "tab create", "pane run"]
] as const

const sentenceOf = ({ left, reason, says }: Pick<Fault, "left" | "reason" | "says">) =>
  `${reason === "unknown" ? "It is not known whether the worker was" : "The worker was not"} launched: ${says}.${left}`

/** What any call can meet, and how sure its effect then is. */
const meets: ReadonlyArray<readonly [when: string, Behaviour, sure: boolean, says: string]> = [
  ["is not installed", { fails: "missing" }, true, "herdr is not installed or not on PATH"],
  ["cannot be started", { fails: "not_started" }, true, "herdr could not be started"],
  ["is killed", { fails: "signal" }, false, "herdr was ended by a signal"],
  [
    "prints more than 1 MiB",
    { stdout: "x".repeat(1024 * 1024 + 1) },
    false,
    "herdr printed more than expected and was ended"
  ],
  [
    "finds no server",
    error("server_not_running"),
    true,
    "Herdr's server is not running any more; start Herdr again and open this session in it"
  ],
  [
    "meets another version",
    error("protocol_mismatch"),
    true,
    "the herdr on PATH and the Herdr that is running are of different versions; " +
    "put the matching herdr first on PATH, or start Herdr again"
  ],
  ["loses the server", error("server_unavailable"), false, "Herdr answered server_unavailable"],
  ["meets a timeout of the server", error("timeout"), false, "Herdr answered timeout"],
  ["gets a code of a later version", error("of_a_later_version"), false, "Herdr answered of_a_later_version"],
  [
    "gets an error whose code is text",
    error("a code: <script>"),
    false,
    "herdr failed: {\"id\":\"cli:x\",\"error\":" +
    "{\"code\":\"a code: <script>\",\"message\":\"words that mean nothing\"}}"
  ],
  [
    "fails in plain words",
    { code: 1, stderr: "\u001b[31mpanicked\u0007 at x\nmore\n" },
    false,
    "herdr failed: panicked at x"
  ],
  ["fails without a word", { code: 101 }, false, "herdr failed: it gave no reason"],
  [
    "does not know the command",
    { code: 2, stderr: "error: unexpected argument '--no-focus' found\n" },
    true,
    "the herdr on PATH does not know this command, so it is too old or too new: error: unexpected argument '--no-focus' found"
  ]
]
/** What only a call with an answer can meet. */
const garbles: ReadonlyArray<readonly [when: string, Behaviour]> = [
  ["prints garbage", { stdout: "\u0000\u001b[2Jpane\n" }],
  ["prints nothing", {}],
  ["is cut off", { stdout: `${created().stdout?.slice(0, 80)}` }],
  ["answers another command", answer("ok", {})],
  ["answers without its pane", answer("tab_created", { tab: { tab_id: "w1:t7", workspace_id: "w1" } })],
  ["answers with an id that is an option", created({}, { pane_id: "--help" })],
  ["answers with an empty id", created({ tab_id: "" })],
  ["answers with an id of 257 characters", created({}, { pane_id: "p".repeat(257) })]
]
const reasonOf = (behaviour: Behaviour, otherwise: LaunchFailed["reason"]): LaunchFailed["reason"] =>
  behaviour.fails === "missing" || behaviour.fails === "not_started" ? "missing_program" : otherwise

const faults: ReadonlyArray<Fault> = [
  ...[{}, { HERDR_ENV: "1" }, { ...inside, HERDR_ENV: "0" }, { ...inside, HERDR_WORKSPACE_ID: "" }].map((
    variables
  ): Fault => ({
    when: `the variables are ${JSON.stringify(variables)}`,
    variables,
    reason: "not_inside",
    says: outOfHerdr,
    left: noTab,
    calls: []
  })),
  ...["/nowhere/at/all", process.execPath].map((directory): Fault => ({
    when: `the directory is ${directory === process.execPath ? "a file" : "not there"}`,
    directory,
    reason: "directory",
    says: "the worker's directory does not exist or cannot be entered",
    left: noTab,
    calls: []
  })),
  {
    when: "Herdr does not know this session's pane",
    told: { "pane current": error("pane_not_found") },
    reason: "not_inside",
    says: "Herdr does not know the pane of this session any more; open this session in a Herdr pane",
    left: noTab,
    calls: asks
  },
  {
    when: "this session's pane was moved to another workspace",
    told: { "pane current": current({ workspace_id: "w2" }) },
    reason: "not_inside",
    says: "this session's pane is in another Herdr workspace than it was opened in; open this session in a new pane",
    left: noTab,
    calls: asks
  },
  {
    when: "the launch script cannot be written",
    scripts: Layer.succeed(LaunchScripts, {
      write: () => new StateUnusable({ path: "/s/launch", detail: "it is a symbolic link", mend: "Remove it." }),
      discard: () => Effect.dieMessage("nothing was written")
    }),
    reason: "failed",
    says: "its launch script could not be written. " +
      "What Intercom keeps privately at /s/launch cannot be used: it is a symbolic link. Remove it",
    left: noTab,
    calls: asks
  },
  {
    when: "the launch script's path cannot be typed",
    root: "/te\nam",
    reason: "failed",
    says: "the path of Intercom's state folder has a control character, which cannot be typed into a pane; " +
      "set PI_INTERCOM_STATE_DIR to another folder",
    left: noTab,
    calls: asks
  },
  ...meets.map(([when, behaviour, , says]): Fault => ({
    when: `herdr ${when} when it is asked where this session is`,
    told: { "pane current": behaviour },
    reason: reasonOf(behaviour, says.includes("server is not running") ? "not_inside" : "failed"),
    says,
    left: noTab,
    calls: asks
  })),
  ...meets.map(([when, behaviour, sure, says]): Fault => ({
    when: `herdr ${when} when it opens the tab`,
    told: { "tab create": behaviour },
    reason: reasonOf(behaviour, sure ? "failed" : "unknown"),
    says,
    left: sure ? noTab : perhaps,
    calls: opens
  })),
  ...meets.map(([when, behaviour, sure, says]): Fault => ({
    when: `herdr ${when} when it types the command`,
    told: { "pane run": behaviour },
    reason: sure ? "failed" : "unknown",
    says,
    left: leftBehind,
    calls: types
  })),
  ...garbles.map(([when, behaviour]): Fault => ({
    when: `herdr ${when} when it opens the tab`,
    told: { "tab create": behaviour },
    reason: "unknown",
    says: garbled,
    left: perhaps,
    calls: opens
  })),
  ...garbles.map(([when, behaviour]): Fault => ({
    when: `herdr ${when} when it is asked where this session is`,
    told: { "pane current": behaviour },
    reason: "failed",
    says: garbled,
    left: noTab,
    calls: asks
  })),
  ...["workspace_not_found", "tab_create_failed"].map((code): Fault => ({
    when: `Herdr answers ${code} when it opens the tab`,
    told: { "tab create": error(code) },
    reason: "failed",
    says: code === "workspace_not_found" ? "Herdr does not know that workspace any more" : `Herdr answered ${code}`,
    left: noTab,
    calls: opens
  })),
  ...["pane_not_found", "pane_send_failed"].map((code): Fault => ({
    when: `Herdr answers ${code} when it types the command`,
    told: { "pane run": error(code) },
    reason: code === "pane_not_found" ? "failed" : "unknown",
    says: code === "pane_not_found" ? "Herdr does not know that pane any more" : `Herdr answered ${code}`,
    left: leftBehind,
    calls: types
  })),
  ...([
    ["a tab of another workspace", created({ workspace_id: "w2" })],
    ["a pane of another workspace", created({}, { workspace_id: "w2" })],
    ["a pane of another tab", created({}, { tab_id: "w1:t8" })]
  ] as const).map(([what, behaviour]): Fault => ({
    when: `Herdr answers with ${what}`,
    told: { "tab create": behaviour },
    reason: "failed",
    says: "Herdr answered with a tab that does not fit the one asked for, so nothing was typed into it",
    left: leftBehind,
    calls: opens
  }))
]
describe("launching in a Herdr that fails, scripted", () => {
  for (const fault of faults) {
    it.effect(`fails when ${fault.when}`, () =>
      Effect.gen(function*() {
        const script = herdr(fault.told)
        const asked = { ...request, directory: fault.directory ?? request.directory, root: fault.root ?? request.root }
        const { layer, written } = makeLaunchScripts()
        const failed = yield* Effect.flip(
          use(script, (multiplexer) => multiplexer.launch(asked), { scripts: layer, ...fault })
        )
        assert.strictEqual(failed.message, sentenceOf(fault))
        assert.strictEqual(failed.reason, fault.reason)
        assert.deepStrictEqual(called(script), fault.calls)
        // Only where its line may have been typed the script stays, and the pane is one to look for.
        const typed = fault.calls === types && fault.reason === "unknown"
        assert.strictEqual(written.size, typed ? 1 : 0)
        assert.strictEqual(failed.trace, typed ? trace : undefined)
      }))
  }

  it("the sentences are in the documentation", async () => {
    const rows = faults.map((fault) => `| ${fault.when} | ${sentenceOf(fault)} |`.replaceAll("\n", " "))
    await expect(
      "# What a user is told: launching in Herdr\n\nMade from test/layers/Multiplexers/HerdrFaults.test.ts.\n\n" +
        `| when | sentence |\n|---|---|\n${[...new Set(rows)].join("\n")}\n`
    ).toMatchFileSnapshot("../../../docs/sentences-herdr.md")
  })

  it.effect("types into the caller's own pane in no case", () =>
    Effect.gen(function*() {
      const script = herdr({ "tab create": created({ tab_id: "w1:t1" }, pane(1)) })
      const failed = yield* Effect.flip(launch(script))
      assert.strictEqual(failed.reason, "failed")
      assert.deepStrictEqual(called(script), [...opens])
    }))

  for (
    const [when, calls, seconds, told, reason, left] of [
      ["asks", 1, 4, "pane current", "failed", noTab],
      ["opens the tab", 2, 40, "tab create", "unknown", perhaps],
      ["types", 3, 40, "pane run", "unknown", leftBehind]
    ] as const
  ) {
    it.effect(`a herdr that hangs while it ${when} is ended after ${seconds} s`, () =>
      Effect.gen(function*() {
        const script = herdr({ [told]: { takes: "forever" } })
        const fiber = yield* Effect.fork(Effect.flip(launch(script)))
        // The look at the directory is real I/O: the deadline starts when the call is there.
        while (script.calls.length < calls) yield* TestClock.adjust(0)
        yield* TestClock.adjust(seconds * 1000 - 1)
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust(1)
        const failed = yield* Fiber.join(fiber)
        assert.strictEqual(failed.reason, reason)
        assert.strictEqual(failed.message, sentenceOf({ reason, says: slow, left }))
        assert.strictEqual(failed.trace, told === "pane run" ? trace : undefined)
        assert.lengthOf(script.calls, calls)
      }))
  }
})
