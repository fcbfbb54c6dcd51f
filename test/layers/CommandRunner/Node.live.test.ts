import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as ChildProcess from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { vi } from "vitest"
import { layer } from "../../../src/layers/CommandRunner/Node.ts"
import { type Command, CommandRunner } from "../../../src/services/CommandRunner.ts"
import type { Behaviour } from "../../support/CommandScripted.ts"
import { isRunning, published } from "../../support/Processes.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { contract, type Watch } from "./contract.ts"

const watch = vi.hoisted((): Watch => ({ started: () => {} }))
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof ChildProcess>()
  const spawn = (program: string, args: ReadonlyArray<string>, options: ChildProcess.SpawnOptions) => {
    watch.started()
    return real.spawn(program, args, options)
  }
  return { ...real, spawn }
})

const node = (script: string, ...args: ReadonlyArray<string>) => ({
  program: process.execPath,
  args: ["-e", script, "--", ...args]
})

const run = (command: Partial<Command> & Pick<Command, "program" | "args">) =>
  Effect.flatMap(
    CommandRunner,
    (runner) => runner.run({ deadline: "30 seconds", maxOutputBytes: 1024 * 1024, ...command })
  )

contract("node", layer, (behaviour: Behaviour) => {
  if (behaviour.fails === "missing") return { program: "/nowhere/pi-intercom-missing", args: [] }
  if (behaviour.fails === "not_started") return { program: "/", args: [] }
  return node(
    `const b = JSON.parse(process.argv[1])
     process.stdout.write(b.stdout ?? ""); process.stderr.write(b.stderr ?? "")
     if (b.takes === "forever") setInterval(() => {}, 1e6)
     if (b.fails === "signal") process.kill(process.pid, "SIGKILL")
     process.exitCode = b.code ?? 0`,
    JSON.stringify(behaviour)
  )
}, watch)

describe("CommandRunner: real programs", () => {
  it.live("arguments arrive exactly and no shell reads them", () =>
    Effect.gen(function*() {
      const args = ["", " a  b ", "'\"`", "$HOME", "$(exit 1)", "\\", "a\nb\tc", ";", "-e", "--", "*", "é€😀"]
      const ended = yield* run(node("console.log(JSON.stringify(process.argv.slice(1)))", ...args))
      assert.deepStrictEqual(JSON.parse(ended.stdout), args)
    }).pipe(Effect.provide(layer)))

  it.live("standard input is empty, the environment is exactly the given one", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run({ program: "cat", args: [] }), { code: 0, stdout: "", stderr: "" })
      const ended = yield* run({ program: "/usr/bin/env", args: [], environment: { ONLY: "this one" } })
      assert.strictEqual(ended.stdout, "ONLY=this one\n")
    }).pipe(Effect.provide(layer)))

  it.live("a megabyte on both streams does not block", () =>
    Effect.gen(function*() {
      const ended = yield* run(
        node("process.stderr.write('e'.repeat(1024 * 1024)); process.stdout.write('o'.repeat(1024 * 1024))")
      )
      assert.deepStrictEqual([ended.stdout.length, ended.stderr.length], [1024 * 1024, 1024 * 1024])
    }).pipe(Effect.provide(layer)))

  it.scopedLive("what cannot be started is not called missing", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      writeFileSync(`${folder}/program`, "#!/bin/sh\n")
      chmodSync(`${folder}/program`, 0o600)
      assert.strictEqual((yield* Effect.flip(run({ program: `${folder}/program`, args: [] }))).reason, "not_started")
      assert.strictEqual((yield* Effect.flip(run(node("", "a\0b")))).reason, "not_started")
      const long = "x".repeat(200_000)
      assert.strictEqual((yield* Effect.flip(run(node("", long)))).reason, "not_started")
    }).pipe(Effect.provide(layer)))

  it.scopedLive("a program that ignores SIGTERM is gone when an interrupted run returns", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const stubborn = node(
        `process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)
         const fs = require("node:fs")
         fs.writeFileSync(process.argv[1] + ".tmp", String(process.pid))
         fs.renameSync(process.argv[1] + ".tmp", process.argv[1])`,
        `${folder}/pid`
      )
      const fiber = yield* Effect.fork(run(stubborn))
      const pid = Number(yield* published(`${folder}/pid`))
      assert.isTrue(isRunning(pid))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isRunning(pid))
    }).pipe(Effect.provide(layer)))

  it.live("a descendant that keeps the pipes open is not waited for", () =>
    Effect.gen(function*() {
      const ended = yield* run({ program: "/bin/sh", args: ["-c", "sleep 100 & echo $!"], deadline: "20 seconds" })
      const descendant = Number(ended.stdout)
      assert.isTrue(isRunning(descendant))
      process.kill(descendant, "SIGKILL")
    }).pipe(Effect.provide(layer)))
})
