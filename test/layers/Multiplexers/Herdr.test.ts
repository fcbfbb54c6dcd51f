import { assert, describe, expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as fs from "node:fs"
import * as path from "node:path"
import { StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import type { PaneIdentity } from "../../../src/domain/Envelope.ts"
import type { LaunchFailed } from "../../../src/domain/Launch.ts"
import { IdentityFailed } from "../../../src/domain/Pane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as Herdr from "../../../src/layers/Multiplexers/Herdr.ts"
import type { Command } from "../../../src/services/CommandRunner.ts"
import { LaunchScripts } from "../../../src/services/LaunchScripts.ts"
import type { Platform } from "../../../src/services/Platform.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

const inside = {
  HERDR_ENV: "1",
  HERDR_WORKSPACE_ID: "w1",
  HERDR_PANE_ID: "w1:p1",
  HERDR_TAB_ID: "w1:t1",
  HERDR_SOCKET_PATH: "/run/herdr.sock"
}
/** What a trace begins with for the server at that socket. */
const server = "aSdvo1cRyf9q:"

const pane = (number: number, changed: object = {}) => ({
  pane_id: `w1:p${number}`,
  terminal_id: `term-${number}`,
  workspace_id: "w1",
  tab_id: `w1:t${number}`,
  focused: false,
  agent_status: "unknown",
  revision: 0,
  ...changed
})
const answer = (type: string, fields: object): Behaviour => ({
  stdout: `${JSON.stringify({ id: "cli:x", result: { type, ...fields } })}\n`
})
const error = (code: string): Behaviour => ({
  code: 1,
  stderr: `${JSON.stringify({ id: "cli:x", error: { code, message: "words that mean nothing" } })}\n`
})
const current = (changed: object = {}) => answer("pane_current", { pane: pane(1, changed) })
const created = (tab: object = {}, root: object = {}) =>
  answer("tab_created", {
    tab: { tab_id: "w1:t7", workspace_id: "w1", number: 2, label: "x", focused: false, pane_count: 1, ...tab },
    root_pane: pane(7, root)
  })

/** Herdr as told for the commands it is called with; by default everything succeeds. */
const herdr = (told: Readonly<Record<string, Behaviour>> = {}) =>
  scripted((command) => {
    const name = command.args.slice(0, 2).join(" ")
    const usual: Readonly<Record<string, Behaviour>> = {
      "pane current": current(),
      "tab create": created(),
      "tab rename": answer("tab_info", { tab: { tab_id: "w1:t1", workspace_id: "w1" } }),
      "pane run": {}
    }
    return told[name] ?? usual[name] ?? { code: 2, stderr: `error: unrecognized subcommand '${name}'\n` }
  })

const processes = (changed: Partial<ProcessIdentity["Type"]> = {}) =>
  Layer.succeed(ProcessIdentity, {
    own: { pid: 10 },
    look: () => Effect.succeed("unknown"),
    facts: () =>
      Effect.succeed({ startTicks: "500", state: "S", session: 1, tty: { major: 136, minor: 1 }, uid: 1000 }),
    environment: () => Effect.succeed(Option.none()),
    deviceOf: () => Effect.dieMessage("Herdr's terminals are not looked at"),
    ...changed
  })

interface Setting {
  readonly variables?: Readonly<Record<string, string>>
  readonly scripts?: Layer.Layer<LaunchScripts>
  readonly os?: Platform["Type"]["os"]
  readonly processes?: Layer.Layer<ProcessIdentity>
}

const use = <A, E>(
  script: ReturnType<typeof scripted>,
  effect: (multiplexer: Effect.Effect.Success<typeof Herdr.make>) => Effect.Effect<A, E>,
  setting: Setting = {}
) =>
  Effect.provide(
    Effect.flatMap(Herdr.make, effect),
    Layer.mergeAll(
      script.layer,
      setting.scripts ?? makeLaunchScripts().layer,
      platformAs(setting.os ?? "linux"),
      setting.processes ?? processes(),
      Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(setting.variables ?? inside))))
    )
  )

const request = {
  root: "/team",
  argv: ["/bin/pi", "-e", "it's\n$x"],
  directory: process.cwd(),
  environment: { PI_INTERCOM_ROOT: "/team" }
} as const
const launch = (script: ReturnType<typeof scripted>, setting: Setting = {}, asked = request) =>
  use(script, (multiplexer) => multiplexer.launch(asked), setting)

const called = (script: ReturnType<typeof scripted>) =>
  script.calls.map((call: Command) => call.args.slice(0, 2).join(" "))

const noTab = " No tab was opened."
const perhaps = " A tab may have been opened; look before you create another worker."
const leftBehind = " The Herdr tab w1:t7 with the pane w1:p7 may have been left behind; " +
  "nothing was cleaned up and nothing was tried again."
const outOfHerdr = "this session does not run inside Herdr; start Herdr, open this session in it"
const slow = "herdr did not answer in time and was ended"
const garbled = "Herdr's answer could not be read"

interface Fault extends Setting {
  readonly when: string
  readonly told?: Readonly<Record<string, Behaviour>>
  readonly directory?: string
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
    "herdr failed: [31mpanicked at x"
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
      write: () => new StateUnusable({ path: "/s/launch", detail: "it is a symbolic link", mend: "Remove it." })
    }),
    reason: "failed",
    says: "its launch script could not be written. " +
      "Intercom's private state folder /s/launch cannot be used: it is a symbolic link. Remove it",
    left: noTab,
    calls: asks
  },
  {
    when: "the launch script's path cannot be typed",
    scripts: Layer.succeed(LaunchScripts, { write: () => Effect.succeed("/state\n/launch/x.sh") }),
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
    says: sure ? says : `${says}, so it may run all the same`,
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
    says: code === "pane_not_found"
      ? "Herdr does not know that pane any more"
      : `Herdr answered ${code}, so it may run all the same`,
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
    reason: "unknown",
    says: "Herdr answered with a tab that does not fit the one asked for, so nothing was typed into it",
    left: leftBehind,
    calls: opens
  }))
]

describe("launching in Herdr", () => {
  for (const fault of faults) {
    it.effect(`fails when ${fault.when}`, () =>
      Effect.gen(function*() {
        const script = herdr(fault.told)
        const asked = { ...request, directory: fault.directory ?? request.directory }
        const { layer, written } = makeLaunchScripts()
        const failed = yield* Effect.flip(
          use(script, (multiplexer) => multiplexer.launch(asked), { scripts: layer, ...fault })
        )
        assert.strictEqual(failed.message, `The worker was not launched: ${fault.says}.${fault.left}`)
        assert.strictEqual(failed.reason, fault.reason)
        assert.deepStrictEqual(called(script), fault.calls)
        // A script stays only where its line may have been typed.
        assert.strictEqual(written.size, fault.calls === types && fault.reason === "unknown" ? 1 : 0)
      }))
  }

  it("the sentences are in the documentation", async () => {
    const rows = faults.map(({ left, says, when }) => `| ${when} | ${says}.${left} |`.replaceAll("\n", " "))
    await expect(
      "# What a user is told: launching in Herdr\n\nMade from test/layers/Multiplexers/Herdr.test.ts. Each begins with " +
        `"The worker was not launched:".\n\n| when | sentence |\n|---|---|\n${[...new Set(rows)].join("\n")}\n`
    ).toMatchFileSnapshot("../../../docs/sentences-herdr.md")
  })

  it.effect("types into the caller's own pane in no case", () =>
    Effect.gen(function*() {
      const script = herdr({ "tab create": created({ tab_id: "w1:t1" }, pane(1)) })
      const failed = yield* Effect.flip(launch(script))
      assert.strictEqual(failed.reason, "unknown")
      assert.deepStrictEqual(called(script), [...opens])
    }))

  it.effect("opens one tab beside its own, and types one short line into it", () =>
    Effect.gen(function*() {
      const script = herdr()
      const { layer, written } = makeLaunchScripts()
      const launched = yield* launch(script, { scripts: layer })
      assert.deepStrictEqual({ ...launched }, {
        multiplexer: "herdr",
        tab: "w1:t7",
        pane: "w1:p7",
        trace: `herdr ${server}w1 w1:p7`
      })
      assert.deepStrictEqual(script.calls.map((call) => [call.program, ...call.args]), [
        ["herdr", "pane", "current", "--current"],
        [
          ...["herdr", "tab", "create", "--workspace", "w1", "--cwd", process.cwd()],
          ...["--label", "Intercom (anonymous)", "--no-focus"]
        ],
        ["herdr", "pane", "run", "w1:p7", "sh '/state/team/launch/script-1.sh'"]
      ])
      for (const call of script.calls) assert.strictEqual(call.maxOutputBytes, 1024 * 1024)
      const text = written.get("/state/team/launch/script-1.sh") ?? ""
      assert.include(text, "rm -f -- '/state/team/launch/script-1.sh'")
      assert.include(text, "export PI_INTERCOM_ROOT='/team'\nexec '/bin/pi' '-e' 'it'\\''s\n$x'")
    }))

  it.effect("takes the ids of its answers, whatever the environment says and whatever else Herdr adds", () =>
    Effect.gen(function*() {
      const moved = { pane_id: "w1:p30", tab_id: "w1:t30", agent: null, agent_session: null, later: { x: [1] } }
      const script = herdr({ "pane current": current(moved), "tab create": created({ later: true }, { later: 1 }) })
      assert.strictEqual((yield* launch(script)).pane, "w1:p7")
      yield* use(script, (multiplexer) => multiplexer.title("Ada"))
      assert.deepStrictEqual(script.calls.at(-1)?.args, ["tab", "rename", "w1:t30", "Ada"])
      assert.deepStrictEqual(yield* use(script, (multiplexer) => multiplexer.identify), {
        workspaceId: "w1",
        paneId: "w1:p30",
        terminalId: "term-1"
      })
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
        const doubt = told === "pane run" ? ", so it may run all the same" : ""
        assert.strictEqual(failed.message, `The worker was not launched: ${slow}${doubt}.${left}`)
        assert.lengthOf(script.calls, calls)
      }))
  }

  it.effect("on Windows types an encoded PowerShell command, and writes no script", () =>
    Effect.gen(function*() {
      const script = herdr()
      const { layer, written } = makeLaunchScripts()
      yield* launch(script, { scripts: layer, os: "win32" })
      const line = script.calls.at(-1)?.args[3] ?? ""
      const [, code = ""] = /^powershell\.exe -NoLogo -NoProfile -EncodedCommand ([A-Za-z0-9+/]+=*)$/.exec(line) ?? []
      const text = Buffer.from(code, "base64").toString("utf16le")
      assert.include(text, "Remove-Item Env:PI_SESSION_*\nRemove-Item Env:TMUX*\n$env:PI_INTERCOM_ROOT = '/team'")
      assert.notInclude(text, "HERDR")
      assert.include(text, "$start.FileName = '/bin/pi'\n$start.Arguments = '\"-e\" \"it''s\n$x\"'")
      assert.strictEqual(written.size, 0)
      const long = herdr()
      const asked = { ...request, environment: { PATH: "x".repeat(12_000) } }
      const failed = yield* Effect.flip(use(long, (multiplexer) => multiplexer.launch(asked), { os: "win32" }))
      assert.strictEqual(
        failed.message,
        `The worker was not launched: its command and environment together are longer than Windows takes.${noTab}`
      )
      assert.deepStrictEqual(called(long), [...asks])
    }))
})

describe("titling in Herdr", () => {
  it.effect("a title is one argument and never an option; its failure is a sentence, and it is not tried again", () =>
    Effect.gen(function*() {
      for (
        const [name, label] of [["Ada", "Ada"], ["-x", " -x"], ["--help", " --help"], ["é $(b)", "é $(b)"]] as const
      ) {
        const script = herdr()
        yield* use(script, (multiplexer) => multiplexer.title(name))
        assert.deepStrictEqual(script.calls.map((call) => call.args), [
          ["pane", "current", "--current"],
          ["tab", "rename", "w1:t1", label]
        ])
      }
      const rows: ReadonlyArray<readonly [Behaviour, string]> = [
        [error("tab_not_found"), "Herdr does not know that tab any more"],
        [{ stdout: "" }, garbled],
        [{ fails: "missing" }, "herdr is not installed or not on PATH"]
      ]
      for (const [behaviour, says] of rows) {
        const script = herdr({ "tab rename": behaviour })
        const failed = yield* Effect.flip(use(script, (multiplexer) => multiplexer.title("Ada")))
        assert.strictEqual(failed.message, `The tab could not be renamed: ${says}.`)
        assert.lengthOf(script.calls, 2)
      }
      const outside = herdr()
      const failed = yield* Effect.flip(use(outside, (multiplexer) => multiplexer.title("a"), { variables: {} }))
      assert.strictEqual(failed.message, `The tab could not be renamed: ${outOfHerdr}.`)
      assert.lengthOf(outside.calls, 0)
    }))
})

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

describe("proving a pane of Herdr gone", () => {
  const list = (...panes: ReadonlyArray<object>) => answer("pane_list", { panes })
  const rows: ReadonlyArray<readonly [when: string, gone: boolean, told: Behaviour, ids?: readonly [string, string]]> =
    [
      ["the list lacks it", true, list(pane(1), pane(8))],
      ["the list has it", false, list(pane(1), pane(7))],
      ["the list lacks this session's pane too", false, list(pane(8))],
      ["the list is empty", false, list()],
      ["another workspace's list lacks it", true, list(pane(8, { workspace_id: "w2" })), ["w2", "w2:p7"]],
      ["the list has no panes", false, answer("pane_list", {})],
      ["a pane of the list has no id", false, list(pane(1), pane(8, { pane_id: "" }))],
      ["the list is another workspace's", false, list(pane(1), pane(8, { workspace_id: "w2" }))],
      ["the workspace is gone", false, error("workspace_not_found")],
      ["the server is gone", false, error("server_not_running")],
      ["the answer is cut", false, { stdout: `${list(pane(1)).stdout?.slice(0, -4)}` }],
      ["the answer is too long", false, { stdout: " ".repeat(1024 * 1024 + 1) }],
      ["herdr is not there", false, { fails: "missing" }],
      ["its id is none", false, list(), ["w1", "-x"]],
      ["its workspace's id is none", false, list(), ["", "w1:p7"]]
    ]
  for (const [when, gone, told, ids = ["w1", "w1:p7"] as const] of rows) {
    it.effect(`${gone ? "proves it" : "proves nothing"} when ${when}`, () =>
      Effect.gen(function*() {
        const script = herdr({ "pane list": told })
        assert.strictEqual(yield* use(script, (multiplexer) => multiplexer.gone(`${server}${ids[0]}`, ids[1])), gone)
      }))
  }

  it.effect("proves nothing of another server's pane: the same ids are other panes there", () =>
    Effect.gen(function*() {
      const script = herdr({ "pane list": list(pane(1), pane(8)) })
      for (const workspace of ["w1", "000000000000:w1", `:w1`]) {
        assert.isFalse(yield* use(script, (multiplexer) => multiplexer.gone(workspace, "w1:p7")))
      }
      assert.lengthOf(script.calls, 0)
    }))

  it.effect("proves nothing from outside Herdr: which one would answer is not known", () =>
    Effect.gen(function*() {
      const script = herdr({ "pane list": list() })
      assert.isFalse(
        yield* use(script, (multiplexer) => multiplexer.gone(`${server}w1`, "w1:p7"), {
          variables: { HERDR_SOCKET_PATH: inside.HERDR_SOCKET_PATH }
        })
      )
      assert.lengthOf(script.calls, 0)
    }))
})
