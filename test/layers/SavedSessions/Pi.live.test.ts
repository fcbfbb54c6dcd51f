import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { SavedSessions } from "../../../src/services/SavedSessions.ts"
import { type HostVersion, hostVersions } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"
import { arrangements, type Machine, machineIn, reallyFinds, save, sessionsOf, settings } from "./arrangements.ts"

afterEach(() => void vi.unstubAllEnvs())

const id = SessionId.make("worker-1")

const find = (version: HostVersion, machine: Machine) =>
  SavedSessions.pipe(
    Effect.flatMap((sessions) => sessions.find(machine.directory, id)),
    Effect.provide(sessionsOf(version, machine))
  )

describe.each(hostVersions)("sessions that Pi %s saved", (version) => {
  for (const { arrange, found, name } of arrangements) {
    it.scopedLive(`${name}: ${found ? "found" : "not found"}`, () =>
      Effect.gen(function*() {
        const machine = machineIn(yield* temporaryFolder)
        const folder = arrange(machine)
        save(version, "worker-12", machine.directory, folder)
        const file = save(version, id, machine.directory, folder)
        save(version, "worker", machine.directory, folder)
        if (found) return assert.strictEqual(yield* find(version, machine), file)
        assert.strictEqual((yield* Effect.flip(find(version, machine))).reason, "absent")
      }))
  }

  it.scopedLive("real Pi looks where we do: an untrusted project's folder, relative to the worker's", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      settings(machine, "project", "kept/here")
      const file = save(version, id, machine.directory, join(machine.directory, "kept/here"))
      assert.strictEqual(yield* find(version, machine), file)
      assert.isTrue(yield* reallyFinds(version, machine, id))
    }))

  it.scopedLive("one that was never used is absent, and nothing is opened for it", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      save(version, "worker-10", machine.directory)
      const error = yield* Effect.flip(find(version, machine))
      assert.strictEqual(error.reason, "absent")
      assert.match(error.message, /^Nothing was started: that worker's session is not saved in .*create a new worker/)
    }))

  it.scopedLive("in a folder for all projects only one of the worker's folder counts", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      const all = join(machine.home, "all")
      settings(machine, "user", all)
      save(version, id, dirname(machine.directory), all)
      assert.strictEqual((yield* Effect.flip(find(version, machine))).reason, "header")
      assert.isFalse(yield* reallyFinds(version, machine, id))
      const file = save(version, id, machine.directory, all)
      assert.strictEqual(yield* find(version, machine), file)
    }))

  it.scopedLive("the file's name says nothing, its header everything", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      const file = save(version, id, machine.directory)
      const other = save(version, "worker-2", machine.directory)
      fs.renameSync(other, file)
      assert.strictEqual((yield* Effect.flip(find(version, machine))).reason, "header")
      const renamed = join(dirname(file), "a copy.jsonl")
      fs.renameSync(save(version, id, machine.directory), renamed)
      assert.strictEqual(yield* find(version, machine), renamed)
    }))

  const header = (text: string) => (file: string) => {
    const lines = fs.readFileSync(file, "utf8").split("\n")
    fs.writeFileSync(file, [text.replace("HEADER", lines[0] ?? ""), ...lines.slice(1)].join("\n"))
  }
  const broken: ReadonlyArray<readonly [string, (file: string) => void]> = [
    ["another id in the header", header(`{"type":"session","id":"worker-2","cwd":"/"}`)],
    ["another type", header(`{"type":"message","id":"worker-1"}`)],
    ["no JSON", header("HEADER}")],
    ["a blank line first", header("\nHEADER")],
    ["a header that 4096 bytes do not hold", header(`${" ".repeat(4000)}HEADER`)],
    ["no newline", (file) => fs.writeFileSync(file, `{"type":"session","id":"worker-1","cwd":"/"}`)],
    ["nothing", (file) => fs.writeFileSync(file, "")],
    ["a link to the session", (file) => {
      fs.renameSync(file, `${file}.real`)
      fs.symlinkSync(`${file}.real`, file)
    }],
    ["a link to a device that never ends", (file) => {
      fs.rmSync(file)
      fs.symlinkSync("/dev/zero", file)
    }],
    ["a pipe that nobody writes", (file) => {
      fs.rmSync(file)
      execFileSync("mkfifo", [file])
    }],
    ["a folder", (file) => {
      fs.rmSync(file)
      fs.mkdirSync(file)
    }]
  ]
  for (const [what, breakIt] of broken) {
    it.scopedLive(`${what} is no saved session, and hides no other one`, () =>
      Effect.gen(function*() {
        const machine = machineIn(yield* temporaryFolder)
        const file = save(version, id, machine.directory)
        breakIt(file)
        const error = yield* Effect.flip(find(version, machine))
        assert.strictEqual(error.reason, "header")
        assert.include(error.message, file)
        const whole = save(version, id, machine.directory)
        assert.strictEqual(yield* find(version, machine), whole)
      }))
  }

  it.scopedLive("settings that Pi itself cannot use are said", () =>
    Effect.gen(function*() {
      const machine = machineIn(yield* temporaryFolder)
      fs.writeFileSync(join(machine.agent, "settings.json"), JSON.stringify({ sessionDir: 7 }))
      assert.match((yield* Effect.flip(find(version, machine))).message, /Pi's settings do not say where/)
    }))
})
