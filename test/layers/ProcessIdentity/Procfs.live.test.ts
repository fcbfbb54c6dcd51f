import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { execFile, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { IdentifiedProcess, parseStat } from "../../../src/domain/IdentifiedProcess.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { platformAs } from "../../support/PlatformAs.ts"

const here = Layer.provide(Procfs.layer, Platform.layer)
const mac = Layer.provide(Procfs.layer, platformAs("darwin"))

const sighting = (pid: number) => parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"))

/** Another process of this machine, as it is now. */
const identityOf = (own: IdentifiedProcess, pid: number): IdentifiedProcess => {
  const seen = sighting(pid)
  assert(seen._tag === "Found" && "bootId" in own)
  return { ...own, pid, startTicks: seen.startTicks }
}

interface Running {
  readonly pid: number
  readonly stdout: Effect.Effect<string>
  /** Ends it with SIGKILL; done when it has been collected. */
  readonly kill: Effect.Effect<void>
}

const running = (command: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] })
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      const line = new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data).trim())))
      assert.isDefined(child.pid)
      return {
        pid: child.pid ?? 0,
        stdout: Effect.promise(() => line),
        kill: Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
      }
    }),
    ({ kill }) => kill
  )

const Said = Schema.parseJson(
  Schema.Struct({ own: IdentifiedProcess, other: Schema.String, itself: Schema.String })
)

/** `look.ts` in a process of its own, started through `unshare`: a program of every util-linux. */
const inContainer = (options: ReadonlyArray<string>, other: IdentifiedProcess) =>
  Effect.async<string>((resume) => {
    const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]
    const program = [process.execPath, "--experimental-strip-types", "--no-warnings"]
    const file = fileURLToPath(new URL("look.ts", import.meta.url))
    execFile(
      "unshare",
      [...user, ...options, ...program, file, JSON.stringify(other)],
      (failed, stdout, stderr) =>
        resume(failed === null ? Effect.succeed(stdout) : Effect.die(new Error(`${failed.message} ${stderr}`)))
    )
  }).pipe(Effect.flatMap(Schema.decode(Said)))

describe("processes of this machine", () => {
  it.effect("this process is known in full, and alive", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      assert.strictEqual(own.pid, process.pid)
      assert("bootId" in own)
      assert.strictEqual(own.bootId, readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())
      assert.match(own.pidNamespace, /^pid:\[\d+\]$/)
      assert.strictEqual(yield* look(own), "alive")
    }).pipe(Effect.provide(here)))

  it.scopedLive("a child lives, also stopped, until it is killed", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      const child = yield* running("sleep", "1000")
      const identity = identityOf(own, child.pid)
      assert.strictEqual(yield* look(identity), "alive")
      process.kill(child.pid, "SIGSTOP")
      assert.strictEqual(yield* look(identity), "alive")
      yield* child.kill
      assert.strictEqual(yield* look(identity), "gone")
    }).pipe(Effect.provide(here)))

  it.scopedLive("a process that has ended and was not collected is gone", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      // The child ends when the shell has become a program that never collects it: the shell itself would.
      const child = "until grep -q sleep /proc/$$/comm; do :; done"
      const parent = yield* running("sh", "-c", `(${child}) & echo $!; exec sleep 1000`)
      const pid = Number(yield* parent.stdout)
      yield* eventuallyTrue(
        "a zombie",
        Effect.sync(() => {
          const seen = sighting(pid)
          return seen._tag === "Found" && seen.state === "Z"
        })
      )
      assert.strictEqual(yield* look(identityOf(own, pid)), "gone")
    }).pipe(Effect.provide(here)))

  it.scopedLive("a pid that was given out again is another process", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      const child = yield* running("sleep", "1000")
      assert.strictEqual(yield* look({ ...own, pid: child.pid }), "gone")
    }).pipe(Effect.provide(here)))

  it.live("from another container, and of one, nothing is known", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      const { itself, other, own: inside } = yield* inContainer(["--pid", "--fork", "--mount-proc"], own)
      assert.strictEqual(inside.pid, 1)
      assert("bootId" in inside)
      assert.strictEqual(itself, "alive")
      assert.strictEqual(other, "unknown")
      // Pid 1 is a process here as well, of another start.
      assert.strictEqual(yield* look(inside), "unknown")
    }).pipe(Effect.provide(here)))

  it.live("a procfs of another container is not believed", () =>
    Effect.gen(function*() {
      const { own } = yield* ProcessIdentity
      const { itself, other, own: inside } = yield* inContainer(["--pid", "--fork"], own)
      assert.deepStrictEqual(inside, { pid: 1 })
      assert.strictEqual(itself, "unknown")
      assert.strictEqual(other, "unknown")
    }).pipe(Effect.provide(here)))

  it.scopedLive("by its pid alone a process is never known on Linux", () =>
    Effect.gen(function*() {
      const { look } = yield* ProcessIdentity
      const child = yield* running("sleep", "1000")
      yield* child.kill
      assert.strictEqual(yield* look({ pid: child.pid }), "unknown")
      assert.strictEqual(yield* look({ pid: process.pid }), "unknown")
    }).pipe(Effect.provide(here)))

  it.scopedLive("without procfs a process is gone when the system knows no such pid, else unknown", () =>
    Effect.gen(function*() {
      const { look, own } = yield* ProcessIdentity
      assert.deepStrictEqual(own, { pid: process.pid })
      const child = yield* running("sleep", "1000")
      assert.strictEqual(yield* look({ pid: child.pid }), "unknown")
      yield* child.kill
      assert.strictEqual(yield* look({ pid: child.pid }), "gone")
      const linux = { startTicks: "1", bootId: "b", machineId: "", pidNamespace: "pid:[1]" }
      assert.strictEqual(yield* look({ pid: child.pid, ...linux }), "unknown")
      // Signals to these would reach a group, or everyone.
      for (const pid of [0, -1, -child.pid, 1.5, Number.NaN]) assert.strictEqual(yield* look({ pid }), "unknown")
    }).pipe(Effect.provide(mac)))
})
