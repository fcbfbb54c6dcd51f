import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { workerId } from "../../scripts/bench/Team.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import * as MonitorPane from "./MonitorPane.ts"
import * as Recorded from "./Recorded.ts"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000
const isFrame = (lines: ReadonlyArray<string>): boolean => lines.some((line) => line.startsWith("> "))

describe("a crowded team in a terminal", () => {
  it.scopedLive(
    "each of 256 workers shows its status, whatever one logs and all have handed off",
    () =>
      Effect.gen(function*() {
        const handoff = "漢".repeat(4000)
        const at = yield* MonitorPane.make(256, (n) => 1 + n, handoff)
        for (let n = 0; n < 256; n += 1) Recorded.activity(at.root, n, { phase: "tool", detail: "reading_files" }, 2000)
        const logs = path.join(at.root, ".pi-intercom/logs")
        const chatty = fs.readdirSync(logs).map((name) => path.join(logs, name))
          .find((file) => fs.readFileSync(file, "utf8").includes(`"${workerId(7)}"`)) ?? ""
        const line = fs.readFileSync(chatty, "utf8")
        const sent = line.replace(/"event":.*\n/, "\"event\":\"transport.send\",\"kind\":\"message\"}\n")
        fs.appendFileSync(chatty, sent.repeat(5000) + line.replace("reading_files", "editing_files"))

        const pane = yield* at.start({ width: 120, height: 262 })
        const row = (lines: ReadonlyArray<string>, n: number) =>
          lines.find((one) => new RegExp(`^[> ] Worker ${n} `).test(one)) ?? ""
        const ids = Array.from({ length: 256 }, (_, n) => n)
        const lines = yield* pane.shows("every worker", (all) => ids.every((n) => row(all, n).includes("working")))
        for (const n of ids) {
          const doing = n === 7 ? "Editing files" : "Reading files"
          assert.match(
            row(lines, n),
            new RegExp(`^[> ] Worker ${n} +\\S+ +— +working +\\d+[sm] ago(?: \\(old\\))? +${doing} *$`)
          )
        }
        yield* pane.press("Enter")
        yield* pane.shows("a handoff", (all) => all.join("").includes("漢".repeat(50)))
      }),
    bound
  )
})

describe("the terminal's modes", () => {
  const sets = [
    ["bracketed paste", "\u001b[?2004l"],
    ["the cursor", "\u001b[?25h"],
    ["wrapping", "\u001b[?7h"],
    ["the screen", "\u001b[?1049l"]
  ] as const

  it.scopedLive("are each given back, whichever way it ends", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(3)
      yield* Effect.forEach(["q", "Escape", "C-c", "SIGINT", "SIGTERM", "SIGHUP"] as const, (how) =>
        Effect.gen(function*() {
          const pane = yield* at.start()
          yield* pane.shows("a frame", isFrame)
          const file = path.join(pane.own, "bytes")
          yield* at.tmux.run(["pipe-pane", "-O", "-t", pane.id, `exec cat > '${file}'`])
          yield* eventuallyTrue(
            "the pipe",
            Effect.sync(() =>
              fs.existsSync(file)
            )
          )
          if (how.startsWith("SIG")) process.kill(yield* pane.pid, how)
          else yield* pane.press(how)
          yield* pane.noted("after")
          for (const [what, bytes] of sets) {
            yield* eventuallyTrue(
              `${what} after ${how}`,
              Effect.sync(() => fs.readFileSync(file, "utf8").includes(bytes))
            )
          }
          // Nothing takes any of it away again.
          assert.notMatch(fs.readFileSync(file, "utf8"), /\u001b\[\?(?:2004h|25l|7l|1049h)/, how)
        }), { concurrency: 3 })
    }))

  it.scopedLive("a terminal that is closed ends it", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(3)
      const pane = yield* at.start()
      yield* pane.shows("a frame", isFrame)
      const pid = yield* pane.pid
      yield* at.tmux.run(["kill-pane", "-t", pane.id])
      yield* eventuallyTrue(
        "the end of the monitor",
        Effect.map(at.tmux.processes, (pids) => !pids.includes(pid))
      )
    }))
})
