import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { complaints } from "../../support/herdr/ApiSchema.ts"
import type { Fault } from "../../support/herdr/Faults.ts"
import * as Herdr from "../../support/herdr/Herdr.ts"
import { isRunning } from "../../support/Processes.ts"

const Pane = Schema.Struct({
  pane_id: Schema.String,
  terminal_id: Schema.String,
  workspace_id: Schema.String,
  tab_id: Schema.String,
  focused: Schema.Boolean,
  cwd: Schema.optional(Schema.String),
  label: Schema.optional(Schema.String),
  agent: Schema.optional(Schema.String),
  agent_session: Schema.optional(Schema.Unknown)
})
const Layout = Schema.Struct({
  focused_pane_id: Schema.String,
  panes: Schema.Array(
    Schema.Struct({ pane_id: Schema.String, rect: Schema.Struct({ y: Schema.Number, height: Schema.Number }) })
  ),
  splits: Schema.Array(Schema.Struct({ direction: Schema.String, ratio: Schema.Number }))
})
const Processes = Schema.Array(
  Schema.Struct({ pid: Schema.Number, name: Schema.String, argv: Schema.Array(Schema.String), cwd: Schema.String })
)
const of = <A, I>(fields: Schema.Schema<A, I>) =>
  Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({ id: Schema.String, result: fields })))
const oneOf = of(Schema.Struct({ pane: Pane }))
const listOf = of(Schema.Struct({ panes: Schema.Array(Pane) }))
const tabOf = of(
  Schema.Struct({ tab: Schema.Struct({ tab_id: Schema.String, label: Schema.String }), root_pane: Pane })
)
const layoutOf = of(Schema.Struct({ layout: Layout }))
const swapOf = of(
  Schema.Struct({
    swap: Schema.Struct({
      changed: Schema.Boolean,
      reason: Schema.optional(Schema.String),
      focused_pane_id: Schema.String,
      layout: Layout
    })
  })
)
const processesOf = of(
  Schema.Struct({
    process_info: Schema.Struct({ shell_pid: Schema.Number, foreground_processes: Schema.optional(Processes) })
  })
)

/** A server with a workspace of one pane, and calls that must succeed with what the published schema allows. */
const inside = Effect.gen(function*() {
  const herdr = yield* Herdr.alone
  const first = yield* herdr.workspace(herdr.home)
  const call = (...args: ReadonlyArray<string>) => herdr.call(args, first)
  const ok = (...args: ReadonlyArray<string>) =>
    Effect.map(call(...args), (ended) => {
      assert.deepStrictEqual([ended.code, ended.stderr], [0, ""], args.join(" "))
      assert.match(ended.stdout, /^\{.*\}\n$/)
      assert.notInclude(ended.stdout, "null")
      assert.deepStrictEqual(complaints("success", JSON.parse(ended.stdout)), [], args.join(" "))
      return ended.stdout
    })
  const panes = Effect.map(ok("pane", "list"), (text) => listOf(text).result.panes)
  const tab = (...args: ReadonlyArray<string>) =>
    Effect.map(
      ok("tab", "create", "--workspace", first.workspace, ...args, "--no-focus"),
      (text) => tabOf(text).result.root_pane
    )
  const foreground = (pane: string) =>
    Effect.map(ok("pane", "process-info", "--pane", pane), (text) => processesOf(text).result.process_info)
  return { ...herdr, first, plain: call, ok, panes, tab, foreground }
})

/** A number and a newline that a program writes. */
const eventuallyWritten = (file: string) =>
  eventuallyTrue(
    `text in ${file}`,
    Effect.sync(() => fs.existsSync(file) && /^\d+\n/.test(fs.readFileSync(file, "utf8")))
  ).pipe(Effect.map(() => fs.readFileSync(file, "utf8")))

describe("what herdr answers", () => {
  it.scopedLive("is what Herdr publishes, for each command; what is empty is left out", () =>
    Effect.gen(function*() {
      const { agent, first, ok } = yield* inside
      const bare = oneOf(yield* ok("pane", "current", "--current")).result.pane
      assert.deepStrictEqual(
        [bare.pane_id, bare.terminal_id, bare.workspace_id, bare.tab_id, bare.focused],
        [first.pane, first.terminal, first.workspace, first.tab, true]
      )
      assert.notProperty(bare, "label")
      assert.notProperty(bare, "agent")
      yield* ok("pane", "rename", first.pane, "the \"label\"\nof; it #{pid} é")
      yield* agent(first, "pi", "/s/one two.jsonl")
      const full = oneOf(yield* ok("pane", "get", first.pane)).result.pane
      assert.strictEqual(full.label, "the \"label\"\nof; it #{pid} é")
      assert.strictEqual(full.agent, "pi")
      assert.deepStrictEqual(full.agent_session, {
        source: "herdr:pi",
        agent: "pi",
        kind: "path",
        value: "/s/one two.jsonl"
      })
      const split = oneOf(yield* ok("pane", "split", "--pane", first.pane, "--direction", "right")).result.pane
      for (
        const args of [
          ["pane", "list"],
          ["pane", "list", "--workspace", first.workspace],
          ["pane", "process-info", "--pane", first.pane],
          ["pane", "layout", "--pane", first.pane],
          ["pane", "swap", "--source-pane", first.pane, "--target-pane", split.pane_id],
          ["tab", "create", "--workspace", first.workspace],
          ["tab", "rename", first.tab, "new"],
          ["pane", "close", split.pane_id]
        ]
      ) yield* ok(...args)
    }))

  it.scopedLive("is an error with its code on stderr and exit 1, or plain text and exit 2", () =>
    Effect.gen(function*() {
      const { call, first, home, plain, workspace } = yield* inside
      const refused: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [
        ["pane_not_found", "pane", "get", "w9:p9"],
        ["pane_not_found", "pane", "get", ""],
        ["pane_not_found", "pane", "process-info", "--pane", "w9:p9"],
        ["pane_not_found", "pane", "layout", "--pane", "w9:p9"],
        ["pane_not_found", "pane", "split", "--pane", "w9:p9", "--direction", "down"],
        ["pane_not_found", "pane", "rename", "w9:p9", "x"],
        ["pane_not_found", "pane", "run", "w9:p9", "x"],
        ["pane_not_found", "pane", "send-text", "w9:p9", "x"],
        ["pane_not_found", "pane", "read", "w9:p9"],
        ["pane_not_found", "pane", "close", "w9:p9"],
        ["workspace_not_found", "pane", "list", "--workspace", "w9"],
        ["workspace_not_found", "tab", "create", "--workspace", "w9"],
        ["tab_not_found", "tab", "rename", "w9:t9", "x"]
      ]
      for (const [code, ...args] of refused) {
        const ended = yield* plain(...args)
        assert.deepStrictEqual([ended.code, ended.stdout], [1, ""], args.join(" "))
        const error: unknown = JSON.parse(ended.stderr)
        assert.deepStrictEqual(complaints("error", error), [])
        assert.include(ended.stderr, `"code":"${code}"`)
      }
      const misused: ReadonlyArray<ReadonlyArray<string>> = [
        [],
        ["pane"],
        ["pane", "explode"],
        ["pane", "get"],
        ["pane", "get", first.pane, "more"],
        ["pane", "layout", "--pane"],
        ["pane", "split", "--pane", first.pane, "--direction", "up"],
        ["tab", "create", "--cwd", home],
        ["pane", "list", "--tab", "w1:t1"]
      ]
      for (const args of misused) {
        const ended = yield* plain(...args)
        assert.deepStrictEqual([ended.code, ended.stdout], [2, ""], args.join(" "))
        assert.match(ended.stderr, /^error: /)
      }
      // Outside every pane, and without a server.
      assert.include((yield* call(["pane", "current", "--current"])).stderr, "pane_not_found")
      yield* workspace(home)
      assert.strictEqual((yield* call(["pane", "list"])).code, 0)
    }))

  it.scopedLive("comes from a server, or says that there is none", () =>
    Effect.gen(function*() {
      const { call, home, variables } = yield* Herdr.alone
      const before = yield* call(["pane", "list"])
      assert.deepStrictEqual(listOf(before.stdout).result.panes, [])
      assert.strictEqual(variables()["HERDR_SOCKET_PATH"], path.join(home, "tmux"))
      fs.renameSync(path.join(home, "tmux"), path.join(home, "elsewhere"))
      const after = yield* call(["pane", "list"])
      fs.renameSync(path.join(home, "elsewhere"), path.join(home, "tmux"))
      assert.deepStrictEqual([after.code, after.stdout], [1, ""])
      assert.include(after.stderr, "\"code\":\"server_not_running\"")
    }))
})

describe("panes of herdr", () => {
  it.scopedLive("have Herdr's variables and nothing of tmux", () =>
    Effect.gen(function*() {
      const { bin, first, foreground, home, tab } = yield* inside
      for (const pane of [first.pane, (yield* tab("--label", "second")).pane_id]) {
        const { shell_pid } = yield* foreground(pane)
        const environment = () => fs.readFileSync(`/proc/${shell_pid}/environ`, "utf8").split("\0")
        yield* eventuallyTrue("the shell", Effect.sync(() => environment().includes(`HERDR_PANE_ID=${pane}`)))
        assert.includeMembers(environment(), [
          "HERDR_ENV=1",
          `HERDR_SOCKET_PATH=${home}/tmux`,
          `HERDR_BIN_PATH=${bin}/herdr`,
          `HERDR_WORKSPACE_ID=${first.workspace}`,
          `HOME=${home}`
        ])
        assert.deepStrictEqual(environment().filter((entry) => /tmux,|^TMUX|^TERM_PROGRAM/.test(entry)), [])
      }
    }))

  it.scopedLive("open in a new tab where they should, as it was named, and leave the focus", () =>
    Effect.gen(function*() {
      const { first, home, ok, panes, tab } = yield* inside
      const hostile = path.join(home, "-a b'c\"d$HOME e\nf#(touch X)#{pid}é;")
      fs.mkdirSync(hostile)
      const text = yield* ok(
        ...["tab", "create", "--workspace", first.workspace, "--cwd", hostile, "--label"],
        ...["#(touch X) #{pid};", "--no-focus"]
      )
      const made = tabOf(text).result
      assert.strictEqual(made.tab.label, "#(touch X) #{pid};")
      // It is where its process is, and that has just been started.
      const isIn = (pane: string, folder: string) =>
        eventuallyTrue(
          `${pane} is in ${folder}`,
          Effect.map(ok("pane", "get", pane), (answer) => oneOf(answer).result.pane.cwd === folder)
        )
      yield* isIn(made.root_pane.pane_id, hostile)
      const lost = yield* tab("--cwd", path.join(home, "nowhere"))
      yield* isIn(lost.pane_id, home)
      assert.deepStrictEqual((yield* panes).map((pane) => [pane.pane_id, pane.focused]), [
        [first.pane, true],
        [made.root_pane.pane_id, false],
        [lost.pane_id, false]
      ])
      yield* ok("tab", "create", "--workspace", first.workspace)
      assert.isFalse(oneOf(yield* ok("pane", "get", first.pane)).result.pane.focused)
      assert.isFalse(fs.existsSync(path.join(home, "X")))
    }))

  it.scopedLive("never get an id that was another's; a moved one gets a new id and keeps its terminal", () =>
    Effect.gen(function*() {
      const { call, first, home, move, ok, tab, workspace } = yield* inside
      const one = yield* tab()
      yield* ok("pane", "close", one.pane_id)
      const two = yield* tab()
      assert.notStrictEqual(two.pane_id, one.pane_id)
      assert.notStrictEqual(two.tab_id, one.tab_id)
      assert.notStrictEqual(two.terminal_id, one.terminal_id)

      const other = yield* workspace(home)
      const away = yield* move(first, other.workspace)
      const back = yield* move(away, first.workspace)
      assert.strictEqual(new Set([first.pane, away.pane, back.pane]).size, 3)
      for (const gone of [first.pane, away.pane]) {
        assert.include((yield* call(["pane", "get", gone])).stderr, "pane_not_found")
      }
      const moved = oneOf(yield* ok("pane", "get", back.pane)).result.pane
      assert.deepStrictEqual([moved.terminal_id, moved.workspace_id], [first.terminal, first.workspace])
      // A program in it still has the variables of its launch.
      assert.strictEqual(oneOf(yield* ok("pane", "current", "--current")).result.pane.pane_id, back.pane)
    }))

  it.scopedLive("are split by the share of the old one and swapped with the focus on the source", () =>
    Effect.gen(function*() {
      const { first, home, ok, tab } = yield* inside
      const made = oneOf(
        yield* ok(
          ...["pane", "split", "--pane", first.pane, "--direction", "down", "--ratio", "0.25"],
          ...["--cwd", home, "--no-focus"]
        )
      ).result.pane
      const split = layoutOf(yield* ok("pane", "layout", "--pane", first.pane)).result.layout
      assert.strictEqual(split.focused_pane_id, first.pane)
      assert.deepStrictEqual(split.panes.map((pane) => pane.pane_id), [first.pane, made.pane_id])
      const [top, bottom] = split.panes
      assert.approximately((top?.rect.height ?? 0) / 44, 0.25, 0.03)
      assert.strictEqual(bottom?.rect.y, (top?.rect.height ?? 0) + 1)
      assert.deepStrictEqual(split.splits.map((one) => [one.direction, one.ratio]), [[
        "down",
        (top?.rect.height ?? 0) / 44
      ]])

      const swapped = swapOf(yield* ok("pane", "swap", "--source-pane", first.pane, "--target-pane", made.pane_id))
      assert.strictEqual(swapped.result.swap.changed, true)
      assert.notProperty(swapped.result.swap, "reason")
      assert.strictEqual(swapped.result.swap.focused_pane_id, first.pane)
      assert.deepStrictEqual(
        swapped.result.swap.layout.panes.map((pane) => [pane.pane_id, pane.rect]),
        [[made.pane_id, top?.rect], [first.pane, bottom?.rect]]
      )
      const elsewhere = yield* tab()
      for (
        const [reason, target] of [
          ["not_found", "w9:p9"],
          ["same_pane", first.pane],
          ["cross_tab", elsewhere.pane_id]
        ] as const
      ) {
        const { swap } = swapOf(yield* ok("pane", "swap", "--source-pane", first.pane, "--target-pane", target)).result
        assert.deepStrictEqual([swap.changed, swap.reason], [false, reason])
      }
    }))

  it.scopedLive("run what is typed into their shell, and show what runs; a program in the way swallows it", () =>
    Effect.gen(function*() {
      const { foreground, home, ok, plain, tab } = yield* inside
      const pane = yield* tab("--cwd", home)
      const typed = yield* plain("pane", "run", pane.pane_id, "cd /; echo $$ > \"$HOME/ran\"; exec sleep 1000;")
      assert.deepStrictEqual(typed, { code: 0, stdout: "", stderr: "" })
      yield* eventuallyWritten(path.join(home, "ran"))
      yield* eventuallyTrue(
        "the program in the foreground",
        Effect.map(
          foreground(pane.pane_id),
          ({ foreground_processes = [], shell_pid }) =>
            foreground_processes.some(({ argv, cwd, name, pid }) =>
              name === "sleep" && pid === shell_pid && cwd === "/" && argv.join(" ") === "sleep 1000"
            )
        )
      )
      yield* plain("pane", "send-text", pane.pane_id, "swallowed text")
      assert.deepStrictEqual(yield* plain("pane", "run", pane.pane_id, "touch ~/swallowed"), {
        code: 0,
        stdout: "",
        stderr: ""
      })
      yield* eventuallyTrue(
        "the text on the screen",
        Effect.map(plain("pane", "read", pane.pane_id), ({ stdout }) => stdout.includes("swallowed texttouch"))
      )
      yield* ok("pane", "close", pane.pane_id)
      assert.isFalse(fs.existsSync(path.join(home, "swallowed")))
    }))

  it.scopedLive("are closed with all that runs in their session, however it clings; the last one closes its tab", () =>
    Effect.gen(function*() {
      const { first, foreground, home, ok, panes, plain, tab } = yield* inside
      const pane = yield* tab("--cwd", home)
      const clings = "trap '' HUP TERM; echo $$ > clings; while :; do sleep 1; done"
      fs.writeFileSync(path.join(home, "clings.sh"), clings)
      yield* plain("pane", "run", pane.pane_id, "sh clings.sh & setsid sh -c 'echo $$ > left; exec sleep 1000' & wait")
      const clinging = Number(yield* eventuallyWritten(path.join(home, "clings")))
      const left = Number(yield* eventuallyWritten(path.join(home, "left")))
      const { shell_pid } = yield* foreground(pane.pane_id)
      yield* ok("pane", "close", pane.pane_id)
      yield* eventuallyTrue("their end", Effect.sync(() => !isRunning(clinging) && !isRunning(shell_pid)))
      // What left the session escapes, as from Herdr.
      assert.isTrue(isRunning(left))
      process.kill(left)
      assert.deepStrictEqual((yield* panes).map((one) => [one.pane_id, one.tab_id]), [[first.pane, first.tab]])
    }))
})

describe("the faults of herdr", () => {
  it.scopedLive("are those of the file, for the calls it names, and every call is in the log", () =>
    Effect.gen(function*() {
      const { calls, faults, first, plain, panes } = yield* inside
      const get = plain("pane", "get", first.pane)
      const rename = (label: string) => plain("tab", "rename", first.tab, label)
      const label = Effect.map(rename("same"), ({ stdout }) => stdout.includes("\"label\":\"same\""))
      const withFault = (fault: Fault) => Effect.zipRight(faults(fault), get)

      assert.deepStrictEqual(yield* withFault({ does: "exit", when: "before", code: 7, text: "no luck" }), {
        code: 7,
        stdout: "",
        stderr: "no luck\n"
      })
      const mismatch = yield* withFault({ does: "refuse", when: "before", code: "protocol_mismatch" })
      assert.deepStrictEqual([mismatch.code, mismatch.stdout], [1, ""])
      assert.deepStrictEqual(complaints("error", JSON.parse(mismatch.stderr)), [])
      assert.include(mismatch.stderr, "\"code\":\"protocol_mismatch\"")

      const printed = (what: "garbage" | "oversized" | "truncated" | "nothing") =>
        Effect.map(withFault({ does: "print", what }), ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stderr], [0, ""])
          return stdout
        })
      const garbage = yield* printed("garbage")
      assert.throws(() => JSON.parse(garbage))
      const truncated = yield* printed("truncated")
      assert.isTrue(truncated.startsWith("{\"id\""))
      assert.throws(() => JSON.parse(truncated))
      assert.isAbove((yield* printed("oversized")).length, 1 << 20)
      assert.strictEqual(yield* printed("nothing"), "")

      const extended: unknown = JSON.parse((yield* withFault({ does: "shape", as: "extended" })).stdout)
      assert.deepStrictEqual(complaints("success", extended, "open"), [])
      assert.isNotEmpty(complaints("success", extended, "closed"))
      for (
        const args of [
          ["pane", "get", first.pane],
          ["pane", "list"],
          ["pane", "process-info", "--pane", first.pane],
          ["pane", "swap", "--source-pane", first.pane, "--target-pane", "w9:p9"]
        ]
      ) {
        yield* faults()
        const usual: unknown = JSON.parse((yield* plain(...args)).stdout)
        assert.isNotEmpty(complaints("success", usual, "required"), args.join(" "))
        yield* faults({ does: "shape", as: "minimal" })
        const minimal: unknown = JSON.parse((yield* plain(...args)).stdout)
        assert.deepStrictEqual(complaints("success", minimal, "required"), [], args.join(" "))
      }

      const stale = yield* withFault({ does: "agent", agent: "pi", session: "/old.jsonl" })
      assert.deepStrictEqual(oneOf(stale.stdout).result.pane.agent_session, {
        source: "herdr:pi",
        agent: "pi",
        kind: "path",
        value: "/old.jsonl"
      })
      const another = yield* withFault({ does: "agent", agent: "claude" })
      assert.strictEqual(oneOf(another.stdout).result.pane.agent, "claude")
      assert.deepStrictEqual(complaints("success", JSON.parse(another.stdout)), [])

      // Counted since they were set, for that command only, and an effect whose answer is lost is there.
      yield* faults({ does: "exit", when: "after", code: 1, text: "lost", command: "tab rename", nth: 2 })
      assert.isTrue(yield* label)
      assert.strictEqual((yield* get).code, 0)
      assert.strictEqual((yield* rename("changed")).code, 1)
      assert.include((yield* get).stdout, first.pane)
      assert.isTrue(yield* label)
      yield* faults({ does: "refuse", when: "after", code: "timeout", command: "pane close" })
      assert.strictEqual((yield* plain("pane", "close", first.pane)).code, 1)
      assert.deepStrictEqual(yield* panes, [])
      const log = yield* calls
      assert.deepStrictEqual(log.at(-2)?.args, ["pane", "close", first.pane])
      assert.strictEqual(new Set(log.map((call) => call.pid)).size, log.length)
    }))

  it.scopedLive("can hang: until it is killed, and with its effect if so said", () =>
    Effect.gen(function*() {
      const { calls, faults, first, panes, plain } = yield* inside
      for (const [when, left] of [["before", 1], ["after", 0]] as const) {
        yield* faults({ does: "hang", when, command: "pane close" })
        const hung = yield* Effect.fork(plain("pane", "close", first.pane))
        const closing = Effect.map(calls, (all) => all.filter((call) => call.command === "pane close").at(-1))
        yield* eventuallyTrue(
          "the call",
          Effect.map(calls, (all) => all.at(-1)?.command === "pane close")
        )
        const pid = (yield* closing)?.pid ?? 0
        yield* faults()
        yield* eventuallyTrue("the effect", Effect.map(panes, (all) => all.length === left))
        assert.isTrue(isRunning(pid))
        assert.isNull(hung.unsafePoll())
        process.kill(pid, "SIGTERM")
        yield* eventuallyTrue("its end", Effect.sync(() => !isRunning(pid)))
      }
    }))

  it.scopedLive("can cut what is typed while a shell starts, and nothing typed later", () =>
    Effect.gen(function*() {
      const { faults, home, plain, tab } = yield* inside
      yield* faults({ does: "cut", characters: 20, command: "pane run" })
      const pane = yield* tab("--cwd", home)
      const line = (name: string) => `echo 1 > ${name}; echo 2 > ${name}; echo 3 > ${name}-end`
      yield* plain("pane", "run", pane.pane_id, line("cut"))
      assert.strictEqual(yield* eventuallyWritten(path.join(home, "cut")), "1\n")
      yield* plain("pane", "run", pane.pane_id, line("whole"))
      assert.strictEqual(yield* eventuallyWritten(path.join(home, "whole-end")), "3\n")
      assert.isFalse(fs.existsSync(path.join(home, "cut-end")))
    }))
})
