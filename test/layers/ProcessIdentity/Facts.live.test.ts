import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as path from "node:path"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { eventually, eventuallyTrue } from "../../support/Eventually.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { realTmux } from "../../support/Tmux.ts"
import { type Machine, stat, tree } from "./FakeProcfs.ts"

const here = Layer.provide(Procfs.layer, Platform.layer)
const mac = Layer.provide(Procfs.layer, platformAs("darwin"))

const status = (uid: number) => `Name:\tnode\nUid:\t7\t${uid}\t7\t7\nGid:\t0\t0\t0\t0\n`

/** A procfs with process 77 and what is known of its files. */
const fake = (
  files: Readonly<Record<string, string | Buffer>>,
  machine: Machine = {}
) =>
  Effect.gen(function*() {
    const { machineId, procfs } = yield* tree(machine, { 77: stat(77, "900", "S", "a) Z (b", "70", "34821") })
    for (const [name, content] of Object.entries(files)) writeFileSync(path.join(procfs, "77", name), content)
    return { ...(yield* Procfs.make(procfs, machineId)), procfs }
  })

const refusal = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)
const says = (detail: string) => `The pane could not be verified: ${detail}.`

describe("facts in a procfs tree", () => {
  it.scoped("start, state, session, terminal and user of one process", () =>
    Effect.gen(function*() {
      const { facts } = yield* fake({ status: status(1000) })
      assert.deepStrictEqual(yield* facts(77), {
        startTicks: "900",
        state: "S",
        session: 70,
        tty: { major: 136, minor: 5 },
        uid: 1000
      })
    }))

  it.scoped("a process that is not there, or ends in between", () =>
    Effect.gen(function*() {
      const { facts, environment } = yield* fake({})
      const gone = says("its process is not there any more")
      assert.strictEqual(yield* refusal(facts(78)), gone)
      assert.strictEqual(yield* refusal(environment(78, "A")), gone)
      // Its stat is there, its status is not any more.
      assert.strictEqual(yield* refusal(facts(77)), gone)
    }))

  it.scoped("what is no such file", () =>
    Effect.gen(function*() {
      const unread = says("what procfs says of its process cannot be read")
      for (const files of [{ status: "" }, { status: "Uid:\t1\n" }, { status: status(1), stat: "77 (node" }]) {
        const { facts } = yield* fake(files)
        assert.strictEqual(yield* refusal(facts(77)), unread)
      }
      const { environment, facts, procfs } = yield* fake({})
      for (const name of ["status", "environ"]) mkdirSync(path.join(procfs, "77", name))
      const odd = says("its process cannot be looked at: the system answered EISDIR")
      assert.strictEqual(yield* refusal(facts(77)), odd)
      assert.strictEqual(yield* refusal(environment(77, "A")), odd)
    }))

  it.scoped("what would block is not waited for", () =>
    Effect.gen(function*() {
      const { environment, facts, procfs } = yield* fake({})
      for (const name of ["status", "environ"]) execFileSync("mkfifo", [path.join(procfs, "77", name)])
      assert.strictEqual(yield* refusal(facts(77)), says("what procfs says of its process cannot be read"))
      assert.deepStrictEqual(yield* environment(77, "A"), Option.none())
    }))

  it.scoped("a procfs that does not show this process, from the start or later, says nothing", () =>
    Effect.gen(function*() {
      const strange = says("this machine's procfs does not show this session's own process")
      const other = yield* fake({ status: status(1), environ: "A=1\0" }, { self: "77" })
      assert.strictEqual(yield* refusal(other.facts(77)), strange)
      assert.strictEqual(yield* refusal(other.environment(77, "A")), strange)
      const later = yield* fake({ status: status(1) })
      yield* later.facts(77)
      rmSync(path.join(later.procfs, "self"))
      assert.strictEqual(yield* refusal(later.facts(77)), strange)
    }))

  it.scoped("a pid that is none is refused before any read", () =>
    Effect.gen(function*() {
      const { environment, facts } = yield* fake({ status: status(1) })
      for (const pid of [0, -1, 77.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
        assert.strictEqual(yield* refusal(facts(pid)), says("what should be its process id is none"))
        assert.strictEqual(yield* refusal(environment(pid, "A")), says("what should be its process id is none"))
      }
    }))

  it.scoped("one variable of an environment of at most 4 MiB", () =>
    Effect.gen(function*() {
      const limit = 4 * 1024 * 1024
      const filled = (size: number) => Buffer.from(`X=${"x".repeat(size - 8)}\0A=é\0`)
      assert.strictEqual(filled(limit).length, limit)
      const whole = yield* fake({ environ: filled(limit) })
      assert.deepStrictEqual(yield* whole.environment(77, "A"), Option.some("é"))
      assert.deepStrictEqual(yield* whole.environment(77, "B"), Option.none())
      const larger = yield* fake({ environ: filled(limit + 1) })
      assert.strictEqual(yield* refusal(larger.environment(77, "A")), says("its process has too large an environment"))
    }))
})

/** A shell of this test; done when it has said its first line. */
const shell = (script: string, options: { readonly uid?: number; readonly env?: NodeJS.ProcessEnv } = {}) =>
  Effect.acquireRelease(
    Effect.async<{ readonly pid: number; readonly line: string; readonly kill: () => void }>((resume) => {
      const child = spawn("/bin/sh", ["-c", script], { ...options, stdio: ["ignore", "pipe", "inherit"] })
      child.stdout.once("data", (data) =>
        resume(Effect.succeed({
          pid: child.pid ?? 0,
          line: String(data).trim(),
          kill: () => void child.kill("SIGKILL")
        })))
    }),
    ({ kill }) => Effect.sync(kill)
  )

/** The child ends when the shell has become a program that never collects it: the shell itself would. */
const withZombie = "(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 86400"

const ps = (pid: number, column: string) =>
  execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim()

describe("facts of real processes", () => {
  it.effect("this process", () =>
    Effect.gen(function*() {
      const { facts, own } = yield* ProcessIdentity
      const known = yield* facts(own.pid)
      assert("startTicks" in own)
      assert.strictEqual(known.startTicks, own.startTicks)
      assert.strictEqual(known.uid, process.geteuid?.())
      assert.strictEqual(known.session, Number(ps(own.pid, "sid")))
    }).pipe(Effect.provide(here)))

  it.scopedLive("in a tmux pane: its terminal is the pane's, its session the pane's process, also for a grandchild", () =>
    Effect.gen(function*() {
      const { deviceOf, facts } = yield* ProcessIdentity
      const tmux = yield* realTmux()
      const script = "sleep 86400 & (setsid sleep 86400 &) ; exec sleep 86400"
      const answer = yield* tmux.run([
        ...["new-window", "-d", "-P", "-F", "#{pane_pid}|#{pane_tty}", "-t", "anchor:", "--"],
        ...["/bin/sh", "-c", script]
      ])
      const [pid = "", tty = ""] = answer.trim().split("|")
      const device = yield* deviceOf(tty)
      const running = yield* eventually(
        "both children",
        Effect.map(tmux.processes, (pids) => {
          const sleeps = pids.filter((one) => readFileSync(`/proc/${one}/cmdline`, "latin1") === "sleep\x0086400\0")
          return sleeps.length === 3 ? Option.some(sleeps) : Option.none()
        })
      )
      const pane = yield* facts(Number(pid))
      assert.deepStrictEqual([pane.tty, pane.session], [device, Number(pid)])
      const all = yield* Effect.forEach(running, facts)
      const mine = all.filter(({ session }) => session === Number(pid))
      const escaped = running.filter((_, index) => all[index]?.session !== Number(pid))
      yield* Effect.addFinalizer(() => Effect.sync(() => escaped.forEach((one) => process.kill(one, "SIGKILL"))))
      // The first process and its child; not the one that left the session.
      assert.strictEqual(mine.length, 2)
      for (const { tty } of mine) assert.deepStrictEqual(tty, device)
      assert.deepStrictEqual((yield* facts(escaped[0] ?? 0)).tty, { major: 0, minor: 0 })
    }).pipe(Effect.provide(here)))

  it.scopedLive("one that ended and was not collected still has facts, and says so", () =>
    Effect.gen(function*() {
      const { facts } = yield* ProcessIdentity
      const parent = yield* shell(withZombie)
      const pid = Number(parent.line)
      yield* eventuallyTrue("a zombie", Effect.map(facts(pid), ({ state }) => state === "Z"))
    }).pipe(Effect.provide(here)))

  it.scopedLive("one of another user", () =>
    Effect.gen(function*() {
      if (process.getuid?.() !== 0) return
      const { facts } = yield* ProcessIdentity
      const other = yield* shell("echo x; exec sleep 86400", { uid: 65534 })
      assert.strictEqual((yield* facts(other.pid)).uid, 65534)
    }).pipe(Effect.provide(here)))

  it.scopedLive("one whose name looks like what is read", () =>
    Effect.gen(function*() {
      const { facts } = yield* ProcessIdentity
      for (const name of ["\\rUid:\\t0\\t0\\t0\\t0", "x\\nUid:\\t0\\t0\\t0\\t0", ") Z 1 1 1 1 (", "\\\\"]) {
        const named = yield* shell(
          `printf '${name}' > /proc/$$/comm; echo x; while :; do sleep 1; done`,
          process.getuid?.() === 0 ? { uid: 65534 } : {}
        )
        assert.notStrictEqual(readFileSync(`/proc/${named.pid}/comm`, "utf8"), "sh\n")
        const known = yield* facts(named.pid)
        assert.strictEqual(known.uid, process.getuid?.() === 0 ? 65534 : process.getuid?.(), name)
        assert.strictEqual(known.session, Number(ps(named.pid, "sid")), name)
        assert.include("SRD", known.state, name)
      }
    }).pipe(Effect.provide(here)))

  it.scopedLive("its environment as it was started with, and nothing once it has ended", () =>
    Effect.gen(function*() {
      const { environment } = yield* ProcessIdentity
      const env = { PATH: process.env["PATH"], HERDR_PANE_ID: "w1:p2", EMPTY: "" }
      const child = yield* shell("HERDR_PANE_ID=changed; echo x; while :; do sleep 1; done", { env })
      assert.deepStrictEqual(yield* environment(child.pid, "HERDR_PANE_ID"), Option.some("w1:p2"))
      assert.deepStrictEqual(yield* environment(child.pid, "EMPTY"), Option.some(""))
      assert.deepStrictEqual(yield* environment(child.pid, "HERDR"), Option.none())
      const zombie = yield* shell(withZombie, { env })
      yield* eventuallyTrue(
        "a zombie",
        Effect.sync(() => readFileSync(`/proc/${zombie.line}/stat`, "latin1").includes(") Z "))
      )
      // Kernels differ: an empty environment, or none to read.
      const left = yield* Effect.option(environment(Number(zombie.line), "HERDR_PANE_ID"))
      assert.deepStrictEqual(Option.flatten(left), Option.none())
    }).pipe(Effect.provide(here)))

  it.effect("only a character device is a terminal", () =>
    Effect.gen(function*() {
      const { deviceOf } = yield* ProcessIdentity
      assert.deepStrictEqual(yield* deviceOf("/dev/null"), { major: 1, minor: 3 })
      for (const file of ["/etc/passwd", "/", process.execPath]) {
        assert.strictEqual(yield* refusal(deviceOf(file)), says("what should be its terminal is none"))
      }
      for (const file of ["", "/dev/pts/nothing"]) {
        assert.strictEqual(
          yield* refusal(deviceOf(file)),
          says("its terminal cannot be looked at: the system answered ENOENT")
        )
      }
    }).pipe(Effect.provide(here)))

  it.scoped("nor is a block device, or a character device that is none", () =>
    Effect.gen(function*() {
      if (process.getuid?.() !== 0) return
      const { deviceOf } = yield* ProcessIdentity
      const folder = yield* temporaryFolder
      for (const [name, ...kind] of [["disk", "b", "7", "0"], ["whiteout", "c", "0", "0"]] as const) {
        const file = path.join(folder, name)
        execFileSync("mknod", [file, ...kind])
        assert.strictEqual(yield* refusal(deviceOf(file)), says("what should be its terminal is none"), name)
      }
    }).pipe(Effect.provide(here)))

  it.effect("without procfs nothing is known", () =>
    Effect.gen(function*() {
      const { environment, facts } = yield* ProcessIdentity
      const none = says("this system has no procfs, by which processes are recognised")
      assert.strictEqual(yield* refusal(facts(process.pid)), none)
      assert.strictEqual(yield* refusal(environment(process.pid, "PATH")), none)
    }).pipe(Effect.provide(mac)))
})
