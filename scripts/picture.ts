import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { copyFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { widthOf } from "../monitor/Columns.ts"
import type { Activity } from "../src/domain/Activity.ts"
import { AgentName, type Port } from "../src/domain/Primitives.ts"
import type { ReportStatus } from "../src/domain/Report.ts"
import type { Agent } from "../src/domain/TeamConfig.ts"
import * as MonitorPane from "../test/monitor/MonitorPane.ts"
import * as Recorded from "../test/monitor/Recorded.ts"
import { place } from "./bench/Team.ts"

// Makes docs/monitor.svg: the built monitor in a real tmux, over real files and endpoints, as its colours reach a terminal.

interface Member {
  readonly name: string
  readonly description: string
  readonly doing?: readonly [activity: Activity, agoSeconds: number]
  readonly report?: readonly [status: ReportStatus, summary: string]
  /** Whether it listens. */
  readonly here: boolean
  readonly handoff?: string
}

const members: ReadonlyArray<Member> = [
  { name: "Ada", description: "Owns the parser.", doing: [{ phase: "tool", detail: "editing_files" }, 3], here: true },
  {
    name: "Ben",
    description: "Keeps the build fast.",
    doing: [{ phase: "thinking", detail: "thinking" }, 8],
    here: true
  },
  {
    name: "Chidi",
    description: "Reviews every change of the wire format.",
    doing: [{ phase: "idle", detail: "settled" }, 21],
    report: ["ready_for_review", "The new format is done and tested."],
    here: true
  },
  {
    name: "Dora",
    description: "Writes the documentation and keeps its examples running.",
    doing: [{ phase: "idle", detail: "settled" }, 42],
    report: ["needs_decision", "One page for each command, or one for each task? I would take the second."],
    handoff: "The pages on delivery and closing are done, and Chidi has read them. Open: the page on recovery, whose " +
      "outline is in docs/recovery.md.",
    here: true
  },
  { name: "Emil", description: "Measures.", doing: [{ phase: "waiting", detail: "waiting_for_user" }, 15], here: true },
  { name: "Fatima", description: "Old teams.", doing: [{ phase: "tool", detail: "running_command" }, 700], here: false }
]

const size = { width: 104, height: 22 }
const cell = { width: 8.4, height: 18, font: 14, margin: 14 }
const colours: ReadonlyMap<string, string> = new Map([
  ["32", "#98c379"],
  ["33", "#e5c07b"],
  ["35", "#c678dd"],
  ["36", "#56b6c2"]
])

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** A line with its SGR as SVG: each run of one style at the column where it begins. */
const svgLine = (line: string, row: number): string => {
  let style: ReadonlyArray<string> = []
  let column = 0
  let parts = ""
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    const code = /^\u001b\[([\d;]*)m$/.exec(part)?.[1]
    if (code !== undefined) {
      for (const one of code.split(";")) style = one === "" || one === "0" || one === "39" ? [] : [...style, one]
      continue
    }
    if (part.trim() !== "") {
      const fill = style.map((one) => colours.get(one)).find((one) => one !== undefined)
      const attributes = [
        `x="${(cell.margin + column * cell.width).toFixed(1)}"`,
        `y="${cell.margin + row * cell.height + cell.font}"`,
        `textLength="${(widthOf(part) * cell.width).toFixed(1)}"`,
        ...(fill === undefined ? [] : [`fill="${fill}"`]),
        ...(style.includes("1") ? [`font-weight="bold"`] : []),
        ...(style.includes("2") ? [`opacity="0.6"`] : [])
      ]
      parts += `<text xml:space="preserve" ${attributes.join(" ")}>${escaped(part)}</text>\n`
    }
    column += widthOf(part)
  }
  return parts
}

const svg = (lines: ReadonlyArray<string>): string => {
  const width = Math.ceil(size.width * cell.width + 2 * cell.margin)
  const height = size.height * cell.height + 2 * cell.margin
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The monitor of a team of six workers, with the details of the one that needs a decision">
<rect width="100%" height="100%" rx="8" fill="#1e2127"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${cell.font}" fill="#c8ccd4">
${lines.map(svgLine).join("")}</g>
</svg>
`
}

const picture = Effect.gen(function*() {
  const at = yield* MonitorPane.make(members.length)
  copyFileSync(resolve(import.meta.dirname, "../package.json"), join(at.folder, "package/package.json"))
  const ports = yield* Effect.forEach(
    members,
    ({ here }, n) => here ? Recorded.listening(at.root, at.state, n) : Effect.succeed<Port | undefined>(undefined)
  )
  const worker = (agent: Agent, n: number): Agent => {
    const member = members[n]
    if (member === undefined) return agent
    const updatedAt = new Date(Date.now() - 7_500_000).toISOString()
    return {
      ...agent,
      name: AgentName.make(member.name),
      description: member.description,
      port: ports[n] ?? agent.port,
      ...(member.handoff === undefined
        ? {}
        : { handoff: { version: 1, jobId: "earlier", summary: member.handoff, updatedAt } })
    }
  }
  place(at.root, { ...at.config, agents: at.config.agents.map((agent, n) => n === 0 ? agent : worker(agent, n - 1)) })
  for (const [n, { doing, report }] of members.entries()) {
    if (doing !== undefined) Recorded.activity(at.root, n, doing[0], doing[1] * 1000)
    if (report !== undefined) yield* Recorded.report(at.root, n, report[0], report[1])
  }
  const pane = yield* at.start(size)
  yield* pane.shows("all connections", (lines) => lines.filter((line) => / connected /.test(line)).length === 5)
  yield* pane.press("Enter")
  yield* pane.shows("the details", (lines) => lines.some((line) => line.startsWith("── Dora")))
  return (yield* pane.raw).trimEnd().split("\n")
})

const file = resolve(import.meta.dirname, "../docs/monitor.svg")
NodeRuntime.runMain(Effect.scoped(picture).pipe(Effect.map((lines) => writeFileSync(file, svg(lines)))))
