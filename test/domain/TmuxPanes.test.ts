import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { IdentifiedProcess } from "../../src/domain/IdentifiedProcess.ts"
import { formatTrace, parseTrace } from "../../src/domain/Pane.ts"
import type { ProcessFacts } from "../../src/domain/ProcessFacts.ts"
import { PaneId } from "../../src/domain/TmuxArguments.ts"
import {
  findPane,
  lacksPane,
  notInPane,
  type PaneRow,
  paneRow,
  parsePanes,
  parseServerTrace,
  serverTrace
} from "../../src/domain/TmuxPanes.ts"

const server = { pid: 77, startTicks: "1000" }
const pane = { workspaceId: "tmux:77:1000", paneId: "%3", terminalId: "/dev/pts/5" }
const row: PaneRow = {
  serverPid: 77,
  dead: false,
  pane: PaneId.make("%3"),
  window: "@1",
  session: "$0",
  panePid: 300,
  tty: "/dev/pts/5",
  version: "3.3a"
}
const grouped: PaneRow = { ...row, session: "$1" }
const neighbour: PaneRow = {
  ...row,
  pane: PaneId.make("%30"),
  window: "@2",
  panePid: 301,
  tty: "/dev/pts/6"
}

const said = "77|0|%3|@1|$0|300|/dev/pts/5|3.3a\n77|0|%3|@1|$1|300|/dev/pts/5|3.3a\n77|1|%4|@2|$1|0||3.3a\n"

describe("the panes of a tmux server", () => {
  it("are read as they were told", () => {
    const rows = parsePanes(said)
    assert.deepStrictEqual(rows, [row, grouped, {
      ...row,
      dead: true,
      pane: PaneId.make("%4"),
      window: "@2",
      session: "$1",
      panePid: 0,
      tty: ""
    }])
    assert.deepStrictEqual(parsePanes(""), [])
  })

  it("are not read at all when one line is not whole", () => {
    for (
      const line of [
        "",
        "no row",
        "77|0||@1|$2|300|/dev/pts/5|3.3a",
        "77|0|3|@1|$2|300|/dev/pts/5|3.3a",
        "77|2|%3|@1|$2|300|/dev/pts/5|3.3a",
        "77||%3|@1|$2|300|/dev/pts/5|3.3a",
        "|0|%3|@1|$2|300|/dev/pts/5|3.3a",
        "77|0|%3||$2|300|/dev/pts/5|3.3a",
        "77|0|%3|@1||300|/dev/pts/5|3.3a",
        "77|0|%3|@1|$2|x|/dev/pts/5|3.3a",
        "77|0|%3|@1|$2|-1|/dev/pts/5|3.3a",
        "77|0|%3|@1|$2|30000000000|/dev/pts/5|3.3a",
        "77|0|%3|@1|$2|300|/dev/pts/5",
        "77|0|%3|@1|$2|300|/dev|pts|3.3a",
        " 77|0|%3|@1|$2|300|/dev/pts/5|3.3a"
      ]
    ) {
      assert.isUndefined(parsePanes(`${line}\n`), line)
      assert.isUndefined(parsePanes(`${said}${line}\n`), line)
      assert.isUndefined(parsePanes(`${line}\n${said}`), line)
    }
  })

  it("cut anywhere within a line, an answer is none", () => {
    const lines = said.split("\n").map((line) => line.length)
    const ends = new Set([0, (lines[0] ?? 0) + 1, (lines[0] ?? 0) + (lines[1] ?? 0) + 2])
    for (let at = 1; at < said.length; at++) {
      if (!ends.has(at)) assert.isUndefined(parsePanes(said.slice(0, at)), String(at))
    }
  })

  it("a pane's row is that of its session, else any", () => {
    const rows = [neighbour, row, grouped]
    assert.strictEqual(paneRow(rows, row.pane, "$1"), grouped)
    assert.strictEqual(paneRow(rows, row.pane, "$9"), row)
    assert.isUndefined(paneRow(rows, PaneId.make("%5"), "$0"))
  })

  it("a pane is found by its id, server and terminal, in all its sessions", () => {
    const found = { panePid: 300, tty: "/dev/pts/5" }
    assert.deepStrictEqual(findPane([neighbour, row], server, pane), Either.right({ ...found, sessions: ["$0"] }))
    assert.deepStrictEqual(
      findPane([grouped, neighbour, row], server, pane),
      Either.right({ ...found, sessions: ["$1", "$0"] })
    )
  })

  it("and not when anything at all is different", () => {
    const elsewhere = "it belongs to another tmux server than this session"
    const torn = "tmux says different things of it"
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<PaneRow>, Partial<typeof pane>]> = [
      [elsewhere, [row], { workspaceId: "tmux:77:1001" }],
      [elsewhere, [row], { workspaceId: "tmux:78:1000" }],
      [elsewhere, [row], { workspaceId: "tmux:77:1000 " }],
      [elsewhere, [row], { workspaceId: "" }],
      [elsewhere, [{ ...row, serverPid: 78 }], {}],
      [elsewhere, [row, { ...neighbour, serverPid: 78 }], {}],
      ["tmux has no such pane any more", [], {}],
      ["tmux has no such pane any more", [neighbour], {}],
      ["tmux has no such pane any more", [row], { paneId: "%4" }],
      ["tmux has no such pane any more", [row], { paneId: "" }],
      ["tmux has no such pane any more", [row], { paneId: "%03" }],
      [torn, [row, { ...grouped, panePid: 301 }], {}],
      [torn, [row, { ...grouped, tty: "/dev/pts/6" }], {}],
      [torn, [{ ...row, tty: "/dev/pts/6" }, grouped], {}],
      [torn, [row, { ...grouped, dead: true }], {}],
      [torn, [row, { ...grouped, window: "@2" }], {}],
      ["its program has ended", [{ ...row, dead: true }], {}],
      ["its program has ended", [{ ...row, panePid: 0 }], {}],
      ["it has another terminal now", [{ ...row, tty: "/dev/pts/6" }], {}],
      ["it has another terminal now", [row], { terminalId: "/dev/pts/50" }],
      ["it has another terminal now", [row], { terminalId: "" }]
    ]
    for (const [why, rows, changed] of cases) {
      assert.deepStrictEqual(findPane(rows, server, { ...pane, ...changed }), Either.left(why), JSON.stringify(changed))
    }
  })

  it("a process runs in a pane by its terminal and its session, and only alive: every combination", () => {
    const found = { panePid: 300, tty: "/dev/pts/5", sessions: ["$0"] }
    const device = { major: 136, minor: 5 }
    const passed: Array<string> = []
    for (const state of ["R", "S", "D", "T", "t", "I", "Z", "X", "x"]) {
      for (const session of [300, 301, 0]) {
        for (const tty of [device, { major: 136, minor: 6 }, { major: 4, minor: 5 }, { major: 0, minor: 0 }]) {
          const process: ProcessFacts = { startTicks: "5", state, session, tty, uid: 1 }
          if (notInPane(found, device, process) === undefined) passed.push(`${state} ${session} ${tty.minor}`)
        }
      }
    }
    assert.deepStrictEqual(passed, ["R", "S", "D", "T", "t", "I"].map((state) => `${state} 300 5`))
  })

  it("a pane is lacking only in an answer of that very server that says something", () => {
    assert.isTrue(lacksPane([neighbour], 77, "%3"))
    assert.isFalse(lacksPane([], 77, "%3"))
    assert.isFalse(lacksPane([neighbour], 78, "%3"))
    assert.isFalse(lacksPane([neighbour, { ...neighbour, serverPid: 78 }], 77, "%3"))
    assert.isFalse(lacksPane([neighbour, row], 77, "%3"))
    assert.isFalse(lacksPane([{ ...row, dead: true }], 77, "%3"))
  })
})

describe("a server in a trace", () => {
  const identified: IdentifiedProcess = {
    ...server,
    bootId: "ae0c6b5e-0e2c-4f0e-9d5e-3a1d2b4c5d6e",
    machineId: "0123456789abcdef0123456789abcdef",
    pidNamespace: "pid:[4026531836]"
  }

  it("comes back whole from the ledger's line", () => {
    for (const process of [identified, { ...identified, machineId: "" }]) {
      const workspaceId = serverTrace(process)
      assert.isDefined(workspaceId)
      const parts = parseTrace(formatTrace({ multiplexer: "tmux", workspaceId: workspaceId ?? "", paneId: "%3" }))
      assert.deepStrictEqual(parts?.paneId, "%3")
      assert.deepStrictEqual(parseServerTrace(parts?.workspaceId ?? ""), process)
    }
  })

  it("is none where only the pid is known", () => {
    assert.isUndefined(serverTrace({ pid: 77 }))
  })

  it("read from anything is a server of that very text, or none", () => {
    const texts = FastCheck.oneof(
      FastCheck.string(),
      FastCheck.array(FastCheck.constantFrom("tmux", ":", "1", "99999999999999999", "b", "pid:[1]", " "), {
        maxLength: 14
      }).map((parts) => parts.join("")),
      Arbitrary.make(IdentifiedProcess).map((process) => serverTrace(process) ?? "")
    )
    FastCheck.assert(FastCheck.property(texts, (text) => {
      const process = parseServerTrace(text)
      return process === undefined || "bootId" in process &&
          serverTrace(process)?.replace(/^tmux:\d+/, "") === text.replace(/^tmux:\d+/, "")
    }))
    for (const text of ["", "tmux:77:1000", "tmux:0:1:b:m:n", "tmux:7:1::m:n", "tmux:7:1:b:m:", "tmux:7:x:b:m:n"]) {
      assert.isUndefined(parseServerTrace(text), text)
    }
  })
})
