import { assert, describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { LaunchFailed } from "../../src/domain/Launch.ts"
import type { ToolName } from "../../src/domain/ToolCatalogue.ts"
import * as FileMutationQueue from "../../src/layers/FileMutationQueue/Unqueued.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as TeamFiles from "../../src/layers/TeamFiles.ts"
import { makeMachineOn } from "../support/SimulatedTeam.ts"
import { temporaryFolder } from "../support/TempFolder.ts"

const files = TeamFiles.layer.pipe(Layer.provide(Layer.merge(Platform.layer, FileMutationQueue.layer)))

/** A machine on real files: a root with a file and a folder in it, and a state folder of its own. */
const realMachine = Effect.gen(function*() {
  const base = yield* temporaryFolder
  const root = path.join(base, "root")
  fs.mkdirSync(path.join(root, "api"), { recursive: true })
  fs.writeFileSync(path.join(root, "file.txt"), "x")
  fs.symlinkSync("/", path.join(root, "out"))
  const state = path.join(base, "state")
  const environment = ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]]))
  const here = files.pipe(Layer.provide(Layer.setConfigProvider(environment)))
  const machine = makeMachineOn(here, () => here)
  const show = (text: string) =>
    text.replaceAll(root, "<root>").replaceAll(state, "<state>").replaceAll(`process ${process.pid}`, "process <pid>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
  return { ...machine, root, state, show }
})

const text = (rows: ReadonlyArray<readonly [string, string]>) =>
  rows.map(([what, sentence]) => `| ${what} | ${sentence.replaceAll("|", "\\|").replaceAll("\n", " ⏎ ")} |`).join("\n")

const far = "2999-01-01T00:00:00.000Z"

describe("what a user is told", () => {
  it.scopedLive("for every tool and command, by running it", () =>
    Effect.gen(function*() {
      const machine = yield* realMachine
      const { root, show } = machine
      const rows: Array<readonly [string, string]> = []
      const coordinator = yield* machine.open("c-1", root)
      const fail = (who: typeof coordinator, label: string, name: ToolName, args: unknown) =>
        Effect.map(Effect.flip(who.tool(name, args)), (error) => {
          assert.notInclude(error.message, "\n")
          rows.push([`${label}\`${name}\` ${shortened(args)}`, show(error.message)])
        })

      yield* fail(coordinator, "no team: ", "intercom_send", { to: "Ada", message: "x" })
      for (const directory of ["../elsewhere", "missing", "file.txt", "out", ""]) {
        yield* fail(coordinator, "", "intercom_create_worker", { projectDirectory: directory })
      }
      assert.isFalse(fs.existsSync(path.join(root, ".pi-intercom")), "nothing was published by a refused call")
      machine.terminals.failing.with = new LaunchFailed({ reason: "failed", detail: "tmux answered an error" })
      yield* fail(coordinator, "tmux fails: ", "intercom_create_worker", {})
      machine.terminals.failing.with = new LaunchFailed({ reason: "unknown", detail: "tmux did not answer in time" })
      yield* fail(coordinator, "tmux hangs: ", "intercom_create_worker", {})

      const worker = yield* machine.open("w-1", path.join(root, "api"))
      const values = { sessionId: "w-1", port: 40001, projectDirectory: "api", name: "Ada", description: "Parsers." }
      const configure = (change: object) => fail(coordinator, "", "intercom_configure_worker", { ...values, ...change })
      yield* configure({ port: 0 })
      yield* configure({ port: 70_000 })
      yield* configure({ name: "Coordinator" })
      yield* configure({ name: " Ada" })
      yield* configure({ name: "coordinator" })
      yield* configure({ description: "  " })
      yield* configure({ description: "x".repeat(4097) })
      yield* configure({ sessionId: "c-1" })
      yield* configure({ projectDirectory: "out" })
      yield* configure({ projectDirectory: "file.txt" })
      yield* configure({ surprise: true })
      yield* fail(coordinator, "", "intercom_configure_worker", { name: "Ada" })

      yield* fail(worker, "anonymous: ", "intercom_send", { to: "Coordinator", message: "x" })
      yield* fail(worker, "anonymous: ", "intercom_create_worker", {})
      yield* coordinator.tool("intercom_configure_worker", {
        ...values,
        port: yield* Effect.flatten(worker.membership.port.get)
      })
      yield* configure({ sessionId: "w-2" })
      yield* fail(worker, "not loaded: ", "intercom_send", { to: "Coordinator", message: "x" })
      yield* fail(coordinator, "worker not loaded: ", "intercom_send", { to: "Ada", message: "x" })
      yield* coordinator.tool("intercom_reload_worker", { to: "Ada" })

      yield* fail(coordinator, "", "intercom_send", { to: "Nobody", message: "x" })
      yield* fail(coordinator, "", "intercom_send", { to: "Ada", message: "   " })
      yield* fail(coordinator, "", "intercom_send", { to: "Ada", message: "x".repeat(48_001) })
      yield* fail(coordinator, "", "intercom_send", { to: "Ada" })
      yield* fail(coordinator, "", "intercom_send", { to: "Coordinator", message: "x" })
      yield* fail(worker, "worker: ", "intercom_send", { to: "Ada", message: "x" })
      yield* fail(coordinator, "", "intercom_reload_worker", { to: "Coordinator" })
      yield* fail(coordinator, "", "intercom_reload_worker", { to: 7 })
      yield* fail(coordinator, "", "intercom_request_status", { to: "Nobody" })
      yield* fail(coordinator, "", "intercom_remove_worker", { to: "Coordinator" })
      yield* fail(coordinator, "", "intercom_list", { all: true })
      yield* fail(coordinator, "", "intercom_worker_status", { name: "Nobody" })
      yield* fail(coordinator, "", "intercom_worker_status", { offset: -1 })
      yield* fail(coordinator, "", "intercom_worker_status", { limit: 21 })
      yield* fail(coordinator, "", "intercom_worker_status", { limit: 1.5 })
      yield* fail(coordinator, "", "intercom_set_multiplexer", { multiplexer: "screen" })
      yield* fail(coordinator, "", "intercom_report_work", { status: "blocked", summary: "x" })
      yield* fail(coordinator, "", "intercom_report_status", {})
      yield* fail(worker, "worker: ", "intercom_report_work", { status: "blocked" })
      yield* fail(worker, "worker: ", "intercom_report_work", { status: "clear", summary: "x" })
      yield* fail(worker, "worker: ", "intercom_report_work", { status: "done", summary: "x" })
      yield* fail(worker, "worker: ", "intercom_report_work", { status: "blocked", summary: "x".repeat(2001) })
      yield* fail(worker, "worker: ", "intercom_create_worker", {})
      yield* fail(coordinator, "", "intercom_close_worker", { to: "Ada" })
      yield* fail(coordinator, "", "intercom_stop_worker", { to: "Ada" })
      const resume = (label: string, args: object = {}) =>
        fail(coordinator, label, "intercom_resume_worker", { to: "Ada", confirmClosed: true, ...args })
      yield* resume("", { confirmClosed: false })
      yield* resume("", { confirmClosed: "yes" })
      yield* resume("", { to: "Coordinator" })
      yield* resume("worker there: ")
      const gone = yield* machine.open("w-3", path.join(root, "api"))
      const three = { ...values, sessionId: "w-3", name: "Cleo", port: yield* Effect.flatten(gone.membership.port.get) }
      yield* coordinator.tool("intercom_configure_worker", three)
      yield* gone.stop
      yield* resume("listener gone, process there: ", { to: "Cleo" })
      yield* gone.close
      yield* resume("worker never used: ", { to: "Cleo" })
      machine.pi.saved.add("w-3")
      machine.pi.copies.in = path.join(root, "api")
      yield* resume("another copy there: ", { to: "Cleo" })
      machine.pi.copies.in = undefined
      fs.renameSync(path.join(root, "api"), path.join(root, "web"))
      yield* resume("directory moved: ", { to: "Cleo" })
      fs.symlinkSync("web", path.join(root, "api"))
      yield* resume("directory replaced by a link: ", { to: "Cleo" })
      fs.rmSync(path.join(root, "api"))
      fs.renameSync(path.join(root, "web"), path.join(root, "api"))
      machine.pi.checking.do = Effect.asVoid(
        Effect.orDie(coordinator.tool("intercom_configure_worker", { ...three, description: "Docs." }))
      )
      yield* resume("entry changed meanwhile: ", { to: "Cleo" })
      machine.pi.checking.do = Effect.void
      machine.terminals.failing.with = new LaunchFailed({ reason: "failed", detail: "tmux answered an error" })
      yield* resume("tmux fails: ", { to: "Cleo" })
      machine.terminals.failing.with = new LaunchFailed({ reason: "unknown", detail: "tmux did not answer in time" })
      yield* resume("tmux hangs: ", { to: "Cleo" })
      machine.terminals.failing.with = undefined
      yield* resume("again: ", { to: "Cleo" })
      const say = (args: string) =>
        Effect.map(coordinator.command(args), (answer) => rows.push([`\`/intercom ${args}\``, show(answer)]))
      coordinator.host.answer = (question) => {
        rows.push(["what `/intercom resolve Cleo` asks", show(question)])
        return Effect.succeed(false)
      }
      yield* say("resolve Cleo")
      coordinator.host.answer = () => Effect.succeed(true)
      yield* say("resolve Cleo")
      const [, attention = ""] = /(Needs attention.*)$/.exec(
        yield* Effect.zipRight(
          Effect.zipRight(coordinator.tool("intercom_resume_worker", { to: "Cleo", confirmClosed: true }), Effect.void),
          coordinator.command("")
        )
      ) ?? []
      rows.push(["`/intercom`, a resume open", attention])
      yield* fail(worker, "worker: ", "intercom_report_handoff", { jobId: "j", summary: "x" })

      machine.network.script(({ kind }) => kind === "message" ? { _tag: "Refuse" } : undefined)
      yield* fail(coordinator, "worker gone: ", "intercom_send", { to: "Ada", message: "x" })
      machine.network.script(({ kind }) => kind === "message" ? { _tag: "LoseAnswer" } : undefined)
      yield* fail(coordinator, "answer lost: ", "intercom_send", { to: "Ada", message: "x" })
      machine.network.script(() => undefined)
      worker.host.takes = false
      yield* fail(coordinator, "Pi drops it: ", "intercom_send", { to: "Ada", message: "x" })

      const file = path.join(root, ".pi-intercom", "config.json")
      const config = JSON.parse(fs.readFileSync(file, "utf8"))
      config.agents[1].closeJob = { jobId: "j", state: "uncertain", createdAt: far, updatedAt: far, deadlineAt: far }
      fs.writeFileSync(file, JSON.stringify(config))
      yield* fail(coordinator, "close uncertain: ", "intercom_send", { to: "Ada", message: "x" })
      yield* fail(worker, "close uncertain: ", "intercom_report_work", { status: "blocked", summary: "x" })
      coordinator.host.answer = (question) => {
        rows.push(["what `/intercom resolve Ada` asks, a close uncertain", show(question)])
        return Effect.succeed(false)
      }
      yield* say("resolve Ada")
      machine.terminals.hanging.now = true
      yield* say("resolve Ada")
      machine.terminals.hanging.now = false
      coordinator.host.answer = (question) => Effect.succeed(question.includes("still runs: then"))
      yield* say("resolve Ada")
      coordinator.host.answer = () => Effect.succeed(true)

      const command = (who: typeof coordinator, label: string, args: string) =>
        Effect.map(Effect.flip(who.command(args)), (error) => {
          assert.notInclude(error.message, "\n")
          rows.push([`${label}\`/intercom ${args}\``, show(error.message)])
        })
      for (const args of ["stop", "takeover", "resolve", "resolve Nobody"]) yield* command(coordinator, "", args)
      yield* command(worker, "worker: ", "resolve Cleo")
      yield* command(worker, "worker: ", "takeover")
      machine.network.squat(yield* Effect.flatten(coordinator.membership.port.get))
      worker.host.answer = (question) => {
        rows.push(["what `/intercom takeover` asks a worker", show(question)])
        return Effect.succeed(true)
      }
      yield* command(worker, "coordinator's port unproven, its process there: ", "takeover")
      const twin = yield* machine.open("c-1", root)
      rows.push(["the same saved session in a second Pi", show(failureOf(twin.started).message)])
      yield* command(
        yield* realMachine.pipe(Effect.flatMap((one) => one.open("c-1", one.root))),
        "no team: ",
        "takeover"
      )
      coordinator.host.sessionId = "c-2"
      yield* fail(coordinator, "session replaced: ", "intercom_list", {})
      fs.rmSync(file)
      yield* fail(worker, "team file deleted: ", "intercom_list", {})

      yield* Effect.promise(() =>
        expect(
          `# What a user is told: tools and commands\n\nMade by running them (test/programs/Sentences.live.test.ts).\n\n| call | sentence |\n|---|---|\n${
            keyless(text(rows))
          }\n`
        )
          .toMatchFileSnapshot("../../docs/sentences-tools.md")
      )
    }))

  it.scopedLive("for every file that the product reads, by planting it", () =>
    Effect.gen(function*() {
      const rows: Array<readonly [string, string]> = []
      const agent = {
        sessionId: "c-1",
        name: "Coordinator",
        coordinator: true,
        description: "x",
        port: 1,
        projectDirectory: "."
      }
      const good = { version: 1, multiplexer: "tmux", agents: [agent] }
      const worker = { ...agent, sessionId: "w", name: "Ada", coordinator: false }
      type Machine = Effect.Effect.Success<typeof realMachine>
      const planted = (label: string, plant: (machine: Machine, file: string, folder: string) => void) =>
        Effect.gen(function*() {
          const machine = yield* realMachine
          const folder = path.join(machine.root, ".pi-intercom")
          fs.mkdirSync(folder)
          const file = path.join(folder, "config.json")
          plant(machine, file, folder)
          const session = yield* machine.open("c-1", machine.root)
          rows.push([label, machine.show(failureOf(session.started).message)])
        }).pipe(Effect.scoped)
      const content = (label: string, value: unknown) =>
        planted(label, (_, file) => fs.writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value)))

      yield* content("team file: empty", "")
      yield* content("team file: cut off", JSON.stringify(good).slice(0, 40))
      yield* content("team file: an array", "[]")
      yield* planted("team file: not UTF-8", (_, file) => fs.writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe])))
      yield* content("team file: version 2", { ...good, version: 2 })
      yield* content("team file: unknown multiplexer", { ...good, multiplexer: "screen" })
      yield* content("team file: no coordinator", { ...good, agents: [worker] })
      yield* content("team file: two coordinators", {
        ...good,
        agents: [agent, { ...agent, sessionId: "d", name: "coordinator" }]
      })
      yield* content("team file: a name twice", {
        ...good,
        agents: [agent, worker, { ...worker, sessionId: "v", name: "ADA" }]
      })
      yield* content("team file: a session id twice", { ...good, agents: [agent, worker, { ...worker, name: "Ben" }] })
      yield* content("team file: a port out of range", { ...good, agents: [{ ...agent, port: 0 }] })
      yield* content("team file: a directory with ..", {
        ...good,
        agents: [agent, { ...worker, projectDirectory: "../x" }]
      })
      yield* content("team file: a handoff with unknown keys", {
        ...good,
        agents: [agent, { ...worker, handoff: { version: 1, jobId: "j", summary: "s", updatedAt: far, extra: 1 } }]
      })
      yield* content("team file: a close state that does not exist", {
        ...good,
        agents: [agent, {
          ...worker,
          closeJob: { jobId: "j", state: "done", createdAt: far, updatedAt: far, deadlineAt: far }
        }]
      })
      yield* content("team file: 300 agents", {
        ...good,
        agents: [agent, ...Array.from({ length: 299 }, (_, i) => ({ ...worker, sessionId: `w${i}`, name: `W${i}` }))]
      })
      yield* content("team file: a prototype key", `{"version":1,"multiplexer":"tmux","agents":[],"__proto__":{"x":1}}`)
      yield* content("team file: 9 MB", " ".repeat(9 * 1024 * 1024))
      yield* planted("team file: a link", (_, file) => fs.symlinkSync("/etc/hostname", file))
      yield* planted("team file: a pipe", (_, file) => execFileSync("mkfifo", [file]))
      yield* planted("team file: a folder", (_, file) => fs.mkdirSync(file))
      yield* planted("team file: writable by everyone", (_, file) => {
        fs.writeFileSync(file, JSON.stringify(good))
        fs.chmodSync(file, 0o666)
      })
      yield* planted("`.pi-intercom`: a link", (_, __, folder) => {
        fs.rmdirSync(folder)
        fs.mkdirSync(`${folder}-real`)
        fs.writeFileSync(`${folder}-real/config.json`, JSON.stringify(good))
        fs.symlinkSync(`${folder}-real`, folder)
      })
      yield* planted("root: writable by everyone", ({ root }, file) => {
        fs.writeFileSync(file, JSON.stringify(good))
        fs.chmodSync(root, 0o777)
      })
      const withGood = (label: string, plant: (machine: Machine) => void) =>
        planted(label, (machine, file) => {
          fs.writeFileSync(file, JSON.stringify(good))
          plant(machine)
        })
      yield* withGood("state folder: a file", ({ state }) => fs.writeFileSync(state, "x"))
      yield* withGood("state folder: writable by everyone", ({ state }) => {
        fs.mkdirSync(state)
        fs.chmodSync(state, 0o777)
      })
      const key = ({ root }: Machine) =>
        execFileSync("sh", ["-c", "printf %s \"$1\" | sha256sum | cut -c1-24", "sh", root]).toString().trim()
      const stateOf = (machine: Machine, mode: number) => {
        const folder = path.join(machine.state, key(machine))
        fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
        fs.chmodSync(folder, mode)
        return folder
      }
      yield* withGood("state folder of the root: open to the group", (machine) => void stateOf(machine, 0o750))
      yield* withGood("secret: 5 bytes", (machine) =>
        fs.writeFileSync(path.join(stateOf(machine, 0o700), "secret"), "short", { mode: 0o600 }))
      yield* withGood("secret: readable by the group", (machine) =>
        fs.writeFileSync(path.join(stateOf(machine, 0o700), "secret"), Buffer.alloc(32, 1), { mode: 0o640 }))
      const lock = (machine: Machine, content: string) => {
        const name = `session-${createHash("sha256").update("c-1").digest("hex").slice(0, 24)}.lock`
        fs.writeFileSync(path.join(stateOf(machine, 0o700), name), content, { mode: 0o600 })
      }
      yield* withGood("session lock: something else", (machine) =>
        lock(machine, "x"))
      yield* withGood("session lock: of a process on another machine", (machine) =>
        lock(machine, JSON.stringify({ pid: 7, startTicks: "1", bootId: "b", machineId: "m", pidNamespace: "n" })))
      yield* withGood("secret: a link", (machine) =>
        fs.symlinkSync("/etc/hostname", path.join(stateOf(machine, 0o700), "secret")))

      yield* Effect.promise(() =>
        expect(
          `# What a user is told: files\n\nMade by planting them (test/programs/Sentences.live.test.ts).\n\n| file | sentence |\n|---|---|\n${
            keyless(text(rows))
          }\n`
        )
          .toMatchFileSnapshot("../../docs/sentences-files.md")
      )
    }))
})

/** Keys of folders and sessions, which are hashes of temporary paths. */
function keyless(sentences: string): string {
  return sentences.replace(/<state>\/[0-9a-f]{24}/g, "<state>/<key>").replace(/session-[0-9a-f]{24}/g, "session-<key>")
}

function failureOf<A, E>(exit: Exit.Exit<A, E>): E {
  return Option.getOrThrow(Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none())
}

/** Long arguments as their lengths. */
function shortened(args: unknown): string {
  return JSON.stringify(
    args,
    (_key, value) => typeof value === "string" && value.length > 60 ? `…${value.length} characters…` : value
  )
}
