import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile, execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import { place, workerName } from "../../scripts/bench/Team.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { node22 } from "../support/HostVersions.ts"
import * as MonitorPane from "./MonitorPane.ts"
import * as Recorded from "./Recorded.ts"

const last = (lines: ReadonlyArray<string>): string => lines.at(-1) ?? ""
const isFrame = (lines: ReadonlyArray<string>): boolean => /q quit/.test(last(lines)) && /^> /m.test(lines.join("\n"))
const selected = (lines: ReadonlyArray<string>): string => lines.find((line) => line.startsWith("> ")) ?? ""

/** Listens, takes connections and never answers, on as many ports as asked for. */
const silent = (count: number) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      Promise.all(Array.from({ length: count }, () =>
        new Promise<{ readonly server: net.Server; readonly port: number; readonly open: Set<net.Socket> }>(
          (resolve) => {
            const open = new Set<net.Socket>()
            const server = net.createServer((socket) =>
              void open.add(socket.on("error", () =>
                undefined))
            )
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              resolve({ server, open, port: typeof address === "object" ? address?.port ?? 0 : 0 })
            })
          }
        )))
    ),
    (servers) =>
      Effect.sync(() => {
        for (const { open, server } of servers) {
          server.close()
          for (const socket of open) {
            socket.destroy()
          }
        }
      })
  )

/** Everything below a folder, with its size and time. */
const listing = (folder: string): ReadonlyArray<string> =>
  fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      const { mtimeMs, size } = fs.lstatSync(file)
      return `${file} ${size} ${mtimeMs}`
    }).sort()
    : []

describe("the monitor in a terminal (spec 8)", () => {
  it.scopedLive("selects, scrolls, shows details, at every size, while it is resized", () =>
    Effect.gen(function*() {
      const place = yield* MonitorPane.make(60)
      const pane = yield* place.start({ width: 80, height: 24 })
      // Once all are known to be disconnected, they are in saved order again.
      const first = yield* pane.shows("all connections", (all) => /^> Worker 0 +disconnected/.test(all[1] ?? ""))
      assert.match(first[0] ?? "", /^ {2}Worker +Connection +Report +Activity +Seen/)
      assert.include(first.join("\n"), "39 more · rows 1–21 of 60")
      assert.match(last(first), new RegExp(`^↑/↓ select · Enter details · q quit +Intercom v${MonitorPane.version}$`))
      yield* pane.press(...Array.from({ length: 30 }, () => "j"), "Down", "k", "Up", "Down")
      yield* pane.shows("the thirty-first selected", (lines) => selected(lines).startsWith("> Worker 30 "))
      yield* pane.press("Enter")
      for (const [width, height] of [[40, 8], [120, 12], [200, 50], [80, 24], [17, 5], [5, 3]] as const) {
        yield* pane.resize(width, height)
        const shown = yield* pane.shows(`a frame of ${width}x${height}`, (lines) =>
          lines.length === height && selected(lines).startsWith("> Worker 30".slice(0, width - 1)) &&
          /^(↑.*v7\.8\.9|q quit( +v7\.8\.9)?|q)$/.test(last(lines)) &&
          (height < 8 || /^── Worker 30 /m.test(lines.join("\n"))))
        for (const line of shown) {
          assert.isAtMost(line.length, width)
        }
        assert.strictEqual(
          shown.filter((line) =>
            /q( quit|$)/.test(line)
          ).length,
          1
        )
      }
      yield* pane.resize(80, 24)
      yield* pane.press("Escape")
      yield* pane.shows("no details", (lines) => isFrame(lines) && !lines.join("\n").includes("──"))
      yield* pane.press("Escape")
      assert.strictEqual(yield* pane.noted("code"), "0")
    }))

  it.scopedLive("keeps the selection on its worker when another comes before it", () =>
    Effect.gen(function*() {
      const place = yield* MonitorPane.make(12)
      const pane = yield* place.start()
      yield* pane.shows("all connections", (all) => /^> Worker 0 +disconnected/.test(all[1] ?? ""))
      yield* pane.press("j", "j", "j")
      yield* pane.shows("the fourth selected", (lines) => selected(lines).startsWith("> Worker 3 "))
      Recorded.activity(place.root, 5, { phase: "thinking", detail: "thinking" }, 500)
      yield* Recorded.report(place.root, 9, "needs_decision", "Which?\u001b]0;title\u0007")
      const lines = yield* pane.shows("the report", (all) => /Worker 9 .*Needs decision/.test(all[1] ?? ""))
      assert.match(selected(lines), /^> Worker 3 /)
      assert.match(lines.join("\n"), /Worker 5 +\w+ +— +thinking +\d+s ago/)
      assert.include(yield* pane.raw, "\u001b[35mthinking")
    }))

  it.scopedLive("shows where there is no team, and the team once there is one", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(2)
      fs.renameSync(path.join(at.root, ".pi-intercom"), path.join(at.folder, "later"))
      const pane = yield* at.start()
      yield* pane.shows(
        "the sentence",
        (lines) => lines.join("\n").includes("There is no team file in")
      )
      fs.renameSync(path.join(at.folder, "later"), path.join(at.root, ".pi-intercom"))
      yield* pane.shows("the team", isFrame)
      fs.writeFileSync(path.join(at.root, ".pi-intercom/config.json"), "{")
      const marked = yield* pane.shows("the mark", (lines) => /^! The team file cannot be read/.test(lines[0] ?? ""))
      assert.include(marked.join("\n"), "Worker 1 ")
      place(at.root, at.config)
      yield* pane.shows("no mark", (lines) => isFrame(lines) && !lines.join("\n").includes("!"))
      yield* pane.press("q")
      assert.strictEqual(yield* pane.noted("code"), "0")
    }))

  it.scopedLive("without colour looks the same, and writes nothing anywhere", () =>
    Effect.gen(function*() {
      const place = yield* MonitorPane.make(3)
      Recorded.activity(place.root, 0, { phase: "idle", detail: "settled" }, 0)
      Recorded.activity(place.root, 1, { phase: "working", detail: "processing" }, 3_600_000)
      const before = listing(place.root)
      const environments = [{}, { NO_COLOR: "1" }, { TERM: "dumb" }]
      const screens = yield* Effect.forEach(environments, (environment) =>
        Effect.gen(function*() {
          const pane = yield* place.start({
            environment: { PI_TUI_WRITE_LOG: path.join(place.folder, "log"), ...environment }
          })
          const lines = yield* pane.shows("all connections", (all) => /Worker 2 +disconnected/.test(all.join("\n")))
          const raw = yield* pane.raw
          yield* pane.press("q")
          yield* pane.noted("after")
          return { raw, text: lines.join("\n").replace(/\d+s ago/g, "now") }
        }))
      assert.deepStrictEqual(screens.map(({ text }) => text), screens.map(() => screens[0]?.text))
      assert.deepStrictEqual(screens.map(({ raw }) => raw.includes("\u001b[32midle")), [true, false, false])
      assert.notInclude(screens[1]?.raw, "\u001b[")
      assert.deepStrictEqual(listing(place.root), before)
      assert.deepStrictEqual(listing(place.state), [])
      assert.isFalse(fs.existsSync(path.join(place.folder, "log")))
    }))
})

describe("leaving (spec 8)", () => {
  const ends = [
    ["q", 0],
    ["Escape", 0],
    ["C-c", 0],
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ] as const

  it.scopedLive("by each key and signal gives the terminal back, while all endpoints hang and a log is a pipe", () =>
    Effect.gen(function*() {
      const servers = yield* silent(256)
      const at = yield* MonitorPane.make(256, (n) => servers[n]?.port ?? 1)
      const logs = path.join(at.root, ".pi-intercom/logs")
      fs.mkdirSync(logs, { mode: 0o700 })
      yield* Effect.async<void>((resume) => {
        const name = "writer-00000000-0000-4000-8000-000000000000.jsonl"
        execFile("mkfifo", [path.join(logs, name)], () => resume(Effect.void))
      })
      for (const [how, code] of ends) {
        const pane = yield* at.start()
        yield* pane.shows("a frame", isFrame)
        if (how.startsWith("SIG")) process.kill(yield* pane.pid, how)
        else yield* pane.press(how)
        assert.strictEqual(yield* pane.noted("code"), String(code), how)
        assert.strictEqual(yield* pane.noted("after"), yield* pane.noted("before"), how)
        yield* pane.shows("what was there before", (all) => all[0] === "before the monitor")
        assert.strictEqual(
          yield* pane.format("#{alternate_on} #{cursor_flag} #{wrap_flag} #{keypad_flag}"),
          "0 1 1 0",
          how
        )
        assert.strictEqual(
          fs.readFileSync(path.join(pane.own, "errors"), "utf8").replace(/^(Terminated|Hangup|Interrupt)?\n?$/, ""),
          ""
        )
      }
    }))

  /** The process that reads for the monitor of a pane. */
  const readerOf = (pid: number): number =>
    Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0])
  /** Waits until nothing is left of what reads, the leader of its process group; a zombie is nothing. */
  const nothingOf = (reader: number) =>
    eventuallyTrue(
      "no reader",
      Effect.sync(() => {
        const all = execFileSync("ps", ["-e", "-o", "pgid=,stat="], { encoding: "utf8" }).split("\n")
        return !all.some((line) => new RegExp(`^ *${reader} +[^Z]`).test(line))
      })
    )
  /** A monitor of which the system keeps the first read. */
  const hanging = Effect.gen(function*() {
    const at = yield* MonitorPane.make(2)
    const pipe = path.join(at.folder, "pipe")
    execFileSync("mkfifo", [pipe])
    const pane = yield* at.start({
      options: ["--require", path.join(import.meta.dirname, "Hung.cjs")],
      environment: { MONITOR_PIPE: pipe }
    })
    yield* pane.shows("that it reads", (lines) => lines[0] === "Reading the team …")
    yield* eventuallyTrue("a read that hangs", Effect.sync(() => fs.existsSync(`${pipe}.opened`)))
    return pane
  })

  it.scopedLive("needs no read to end: the system keeps the first one", () =>
    Effect.gen(function*() {
      const pane = yield* hanging
      const reader = readerOf(yield* pane.pid)
      yield* pane.press("q")
      assert.strictEqual(yield* pane.noted("code"), "0")
      assert.strictEqual(yield* pane.noted("after"), yield* pane.noted("before"))
      yield* nothingOf(reader)
    }))

  it.scopedLive("needs no read to end: a later one hangs, while keys are obeyed", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(2)
      const pane = yield* at.start()
      yield* pane.shows("all connections", (lines) => /Worker 1 +disconnected/.test(lines.join("\n")))
      const reader = readerOf(yield* pane.pid)
      process.kill(reader, "SIGSTOP")
      yield* pane.press("j")
      yield* pane.shows("the second selected", (lines) => selected(lines).startsWith("> Worker 1 "))
      yield* pane.press("q")
      assert.strictEqual(yield* pane.noted("code"), "0")
      yield* nothingOf(reader)
    }))

  it.scopedLive("leaves nothing that reads when it is killed while the system keeps a read", () =>
    Effect.gen(function*() {
      const pane = yield* hanging
      const pid = yield* pane.pid
      const reader = readerOf(pid)
      process.kill(pid, "SIGKILL")
      yield* nothingOf(reader)
    }))

  it.scopedLive("leaves nothing that reads when it is killed while all is well", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(2)
      const pane = yield* at.start()
      yield* pane.shows("a frame", isFrame)
      const pid = yield* pane.pid
      const reader = readerOf(pid)
      process.kill(pid, "SIGKILL")
      yield* nothingOf(reader)
    }))

  it.scopedLive("keeps what it shows when what reads is killed, and reads again", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(3)
      const pane = yield* at.start()
      yield* pane.shows("all connections", (lines) => /Worker 2 +disconnected/.test(lines.join("\n")))
      const reader = readerOf(yield* pane.pid)
      process.kill(reader, "SIGKILL")
      yield* nothingOf(reader)
      yield* pane.press("j")
      yield* pane.shows("the second selected", (lines) => selected(lines).startsWith("> Worker 1 "))
      place(at.root, { ...at.config, agents: at.config.agents.slice(0, -1) })
      const lines = yield* pane.shows("one worker less", (all) => isFrame(all) && !all.join("\n").includes("Worker 2 "))
      assert.match(selected(lines), /^> Worker 1 +disconnected/)
      assert.notStrictEqual(readerOf(yield* pane.pid), reader)
      yield* pane.press("q")
      assert.strictEqual(yield* pane.noted("code"), "0")
    }))

  it.scopedLive("ends and says so when what reads cannot even begin", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(2)
      fs.rmSync(path.join(at.dist, "reading.cjs"))
      const pane = yield* at.start()
      assert.strictEqual(yield* pane.noted("code"), "1")
      assert.strictEqual(yield* pane.noted("after"), yield* pane.noted("before"))
      const errors = fs.readFileSync(path.join(pane.own, "errors"), "utf8")
      assert.match(
        errors,
        /^The monitor's process that reads the team ended before [^\n]* install the package again\.\n$/
      )
    }))

  it.scopedLive("a hung endpoint delays only its own cell; one that proves itself is connected", () =>
    Effect.gen(function*() {
      const servers = yield* silent(15)
      const at = yield* MonitorPane.make(16, (n) => servers[n]?.port ?? 1)
      const port = yield* Recorded.listening(at.root, at.state, 15)
      const agents = at.config.agents.map((agent) => agent.name === workerName(15) ? { ...agent, port } : agent)
      place(at.root, { ...at.config, agents })
      const pane = yield* at.start()
      yield* pane.shows("its answer", (all) => /Worker 15 +connected/.test(all.join("\n")))
      // Deadlines of 750 ms, at the end of which the hung ones fall behind it.
      yield* pane.shows(
        "all",
        (all) =>
          /Worker 15 +connected/.test(all[1] ?? "") && all.filter((line) => line.includes("disconnected")).length === 15
      )
    }))
})

describe("starting (spec 8)", () => {
  const run = (argv: ReadonlyArray<string>) =>
    Effect.async<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resume) => {
      const [program = node22, ...args] = argv
      execFile(
        program,
        args,
        { timeout: 30_000 },
        (error, stdout, stderr) => resume(Effect.succeed({ code: error?.code ?? 0, stdout, stderr }))
      )
    })

  it.scopedLive("without a terminal, or with wrong arguments, it says one sentence and nothing else", () =>
    Effect.gen(function*() {
      const { argv } = yield* MonitorPane.make(1)
      const program = argv.slice(0, 2)
      const refused = (code: number) => ({ code, stdout: "" })
      const noTerminal = yield* run(argv)
      assert.deepInclude(noTerminal, refused(1))
      assert.match(noTerminal.stderr, /^The monitor needs an interactive terminal[^\n]*\n$/)
      for (const args of [[], ["--root"], ["--root", ""], ["--rot", "/x"], ["--root", "/x", "more"]]) {
        const wrong = yield* run([...program, ...args])
        assert.deepInclude(wrong, refused(2), args.join(" "))
        assert.match(wrong.stderr, /^Nothing was done: [^\n]*\. Usage: pi-intercom-monitor \[--root [^\n]*\n$/)
      }
      const help = yield* run([...program, "--help"])
      assert.deepInclude(help, { code: 0, stderr: "" })
      assert.match(help.stdout, /^Usage: pi-intercom-monitor/)
    }))
})

describe("names that a terminal would obey", () => {
  it.scopedLive("are shown as text, and change neither title nor clipboard nor screen", () =>
    Effect.gen(function*() {
      const at = yield* MonitorPane.make(2)
      const agents = at.config.agents.map((agent) => ({
        ...agent,
        description:
          "\u001b]0;pwned\u0007\u001b]52;c;cHduZWQ=\u0007\u009d0;pwned\u009c\u001b[2J\u001b[1;1Howned 日本\u202e 👩‍👩‍👧‍👦"
      }))
      place(at.root, { ...at.config, agents })
      const pane = yield* at.start({ width: 60, height: 20 })
      const title = yield* pane.format("#{pane_title}")
      yield* pane.shows("a frame", isFrame)
      yield* pane.press("Enter")
      const lines = yield* pane.shows("details", (all) => all.join("\n").includes("owned 日本"))
      assert.match(lines[1] ?? "", new RegExp(`^> ${workerName(0)} `))
      assert.strictEqual(yield* pane.format("#{pane_title}"), title)
      assert.strictEqual(yield* at.tmux.run(["list-buffers"]), "")
    }))
})
