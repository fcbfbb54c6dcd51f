import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import {
  didNothing,
  HerdrId,
  PaneCurrent,
  PaneInfo,
  PaneLayout,
  PaneList,
  PaneProcesses,
  PaneSwap,
  parseAnswer,
  parseCode,
  TabCreated,
  TabInfo
} from "../../src/domain/HerdrAnswers.ts"

/** Whatever the published schema allows (facts/herdr-api.schema.json), with fields of a later version among it. */
const id = FastCheck.oneof(
  FastCheck.stringMatching(/^w\d{1,3}(:[pt]\d{1,3})?$/),
  FastCheck.stringMatching(/^[!-,.-~][!-~]{0,255}$/)
)
const text = FastCheck.fullUnicodeString()
const absent = (value: FastCheck.Arbitrary<unknown>) => FastCheck.option(value, { nil: null })
const uint = FastCheck.nat({ max: 4_294_967_295 })
const record = (
  required: Record<string, FastCheck.Arbitrary<unknown>>,
  optional: Record<string, FastCheck.Arbitrary<unknown>> = {}
) =>
  FastCheck.tuple(
    FastCheck.dictionary(FastCheck.stringMatching(/^later_\w{1,8}$/), FastCheck.jsonValue(), { maxKeys: 2 }),
    FastCheck.record(optional, { requiredKeys: [] }),
    FastCheck.record(required)
  ).map(([later, some, all]) => ({ ...later, ...some, ...all }))

const status = FastCheck.constantFrom("idle", "working", "blocked", "done", "unknown")
const agentSession = record({ source: text, agent: text, kind: FastCheck.constantFrom("id", "path"), value: text })
const pane = record(
  {
    pane_id: id,
    terminal_id: id,
    workspace_id: id,
    tab_id: id,
    focused: FastCheck.boolean(),
    agent_status: status,
    revision: uint
  },
  {
    agent: absent(text),
    agent_session: absent(agentSession),
    cwd: absent(text),
    display_agent: absent(text),
    foreground_cwd: absent(text),
    label: absent(text),
    scroll: absent(record({})),
    state_labels: FastCheck.dictionary(text, text),
    terminal_title: absent(text),
    terminal_title_stripped: absent(text),
    title: absent(text),
    tokens: FastCheck.dictionary(FastCheck.stringMatching(/^[A-Za-z0-9_-]{1,32}$/), text)
  }
)
const tab = record({
  tab_id: id,
  workspace_id: id,
  number: uint,
  label: text,
  focused: FastCheck.boolean(),
  pane_count: uint,
  agent_status: status
})
const foreground = record({ pid: uint, name: text }, {
  argv: absent(FastCheck.array(text)),
  cmdline: absent(text),
  cwd: absent(text)
})
const processInfo = record(
  { pane_id: id },
  {
    foreground_process_group_id: absent(uint),
    foreground_processes: FastCheck.array(foreground, { maxLength: 4 }),
    shell_pid: absent(uint),
    tty: absent(text)
  }
)
const rect = record({ x: uint, y: uint, width: uint, height: uint })
const layout = record({
  workspace_id: id,
  tab_id: id,
  zoomed: FastCheck.boolean(),
  area: rect,
  focused_pane_id: id,
  panes: FastCheck.array(record({ pane_id: id, focused: FastCheck.boolean(), rect }), { maxLength: 4 }),
  splits: FastCheck.array(
    record({ id: text, direction: FastCheck.constantFrom("right", "down"), ratio: FastCheck.float(), rect }),
    { maxLength: 2 }
  )
})
const swap = record(
  { changed: FastCheck.boolean(), source_pane_id: id, focused_pane_id: id, layout },
  {
    reason: absent(FastCheck.constantFrom("no_neighbor", "same_pane", "not_found", "cross_tab")),
    target_pane_id: absent(id)
  }
)
const result = (type: string, fields: Record<string, FastCheck.Arbitrary<unknown>>) =>
  record({ type: FastCheck.constant(type), ...fields })

interface Command {
  readonly parse: (stdout: string) => Option.Option<unknown>
  readonly result: FastCheck.Arbitrary<object>
}
const command = <A, I>(answer: Schema.Schema<A, I>, arbitrary: FastCheck.Arbitrary<object>): Command => ({
  parse: parseAnswer(answer),
  result: arbitrary
})
const commands: Readonly<Record<string, Command>> = {
  "pane current": command(PaneCurrent, result("pane_current", { pane })),
  "pane get": command(PaneInfo, result("pane_info", { pane })),
  "pane list": command(PaneList, result("pane_list", { panes: FastCheck.array(pane, { maxLength: 4 }) })),
  "pane process-info": command(PaneProcesses, result("pane_process_info", { process_info: processInfo })),
  "pane layout": command(PaneLayout, result("pane_layout", { layout })),
  "pane swap": command(PaneSwap, result("pane_swap", { swap })),
  "tab create": command(TabCreated, result("tab_created", { tab, root_pane: pane })),
  "tab rename": command(TabInfo, result("tab_info", { tab }))
}

const line = (value: unknown) => `${JSON.stringify({ id: "cli:x", result: value })}\n`

describe("HerdrAnswers", () => {
  for (const [name, { parse, result: allowed }] of Object.entries(commands)) {
    it(`${name}: everything that the published schema allows is read`, () => {
      FastCheck.assert(FastCheck.property(allowed, (value) => {
        const read = parse(line(value))
        assert.isTrue(Option.isSome(read))
        assert.propertyVal(Option.getOrThrow(read), "type", Reflect.get(value, "type"))
      }))
    })

    it(`${name}: neither garbage, half an answer nor another command's is read, and nothing throws`, () => {
      const others = Object.entries(commands).filter(([other]) => other !== name).map(([, other]) => other.result)
      FastCheck.assert(
        FastCheck.property(text, FastCheck.jsonValue(), FastCheck.oneof(...others), (drawn, json, other) => {
          for (const stdout of [drawn, JSON.stringify(json), line(json), line(other)]) {
            assert.deepStrictEqual(parse(stdout), Option.none())
          }
        })
      )
      FastCheck.assert(
        FastCheck.property(
          allowed,
          FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          (value, share) => {
            const whole = line(value)
            assert.deepStrictEqual(parse(whole.slice(0, Math.floor((whole.length - 2) * share))), Option.none())
          }
        )
      )
      for (const stdout of ["[".repeat(200_000), `{"result":`.repeat(50_000), "", "null", "{}", "\0"]) {
        assert.deepStrictEqual(parse(stdout), Option.none())
      }
    })
  }

  it("an id is one word of at most 256 characters, and never an option", () => {
    const is = Schema.is(HerdrId)
    for (const good of ["w1", "w1:p1", "term-1", "é", "_", "x".repeat(256)]) assert.isTrue(is(good), good)
    for (
      const bad of [
        "",
        "-",
        "-w1",
        "--help",
        " w1",
        "w1 ",
        "w 1",
        "w1\n",
        "\u001b[0m",
        "\u202e",
        "a\0",
        "x".repeat(257)
      ]
    ) {
      assert.isFalse(is(bad), JSON.stringify(bad))
    }
    const known = { pane_id: "w1:p1", terminal_id: "t", workspace_id: "w1", tab_id: "w1:t1" }
    const parse = parseAnswer(PaneInfo)
    assert.isTrue(Option.isSome(parse(line({ type: "pane_info", pane: known }))))
    for (const field of Object.keys(known)) {
      for (const value of ["", "-x", "a b", 7, null]) {
        assert.isTrue(Option.isNone(parse(line({ type: "pane_info", pane: { ...known, [field]: value } }))), field)
      }
    }
  })

  it("a list without panes is none, and processes may be left out", () => {
    assert.deepStrictEqual(parseAnswer(PaneList)(line({ type: "pane_list" })), Option.none())
    assert.isTrue(Option.isSome(parseAnswer(PaneList)(line({ type: "pane_list", panes: [] }))))
    const processes = parseAnswer(PaneProcesses)(
      line({ type: "pane_process_info", process_info: { pane_id: "w1:p1" } })
    )
    assert.isTrue(Option.isSome(processes))
  })

  it("errors are told by their code, whatever their message; every other text has none", () => {
    const error = (code: unknown) => JSON.stringify({ id: "x", error: { code, message: "pane_not_found" }, later: 1 })
    FastCheck.assert(FastCheck.property(FastCheck.stringMatching(/^[a-z_]{1,64}$/), (code) => {
      assert.deepStrictEqual(parseCode(`${error(code)}\n`), Option.some(code))
    }))
    for (
      const stderr of ["", "error: pane_not_found", error(7), error("a b"), error(""), error("x".repeat(65)), "[]"]
    ) {
      assert.deepStrictEqual(parseCode(stderr), Option.none())
    }
    FastCheck.assert(FastCheck.property(text, (stderr) => {
      assert.deepStrictEqual(parseCode(stderr), Option.none())
    }))
  })

  it("only some codes say that nothing was done", () => {
    for (const code of ["pane_not_found", "workspace_not_found", "tab_create_failed", "server_not_running"]) {
      assert.isTrue(didNothing(code), code)
    }
    for (
      const code of ["timeout", "internal_error", "server_unavailable", "pane_send_failed", "of_a_later_version", ""]
    ) {
      assert.isFalse(didNothing(code), code)
    }
  })
})
