import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import * as path from "node:path"
import type { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import { make } from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { type Machine, stat, tree } from "./FakeProcfs.ts"

const looking = (machine?: Machine, others?: Readonly<Record<number, string>>) =>
  Effect.flatMap(tree(machine, others), ({ machineId, procfs }) => make(procfs, machineId))

const other = (changed: Partial<IdentifiedProcess> & Machine = {}): IdentifiedProcess => ({
  pid: 77,
  startTicks: "900",
  bootId: "boot",
  machineId: "machine",
  pidNamespace: "pid:[1]",
  ...changed
})

describe("a procfs tree", () => {
  it.scoped("says who this process is", () =>
    Effect.gen(function*() {
      const { own } = yield* looking()
      assert.deepStrictEqual(own, other({ pid: process.pid, startTicks: "500" }))
    }))

  it.scoped("without a machine id it is known by the rest", () =>
    Effect.gen(function*() {
      const { own } = yield* looking({ machineId: "" })
      assert.deepStrictEqual(own, other({ pid: process.pid, startTicks: "500", machineId: "" }))
    }))

  it.scoped("is not believed when it shows another process as itself, or has no boot id: then only the pid is known", () =>
    Effect.gen(function*() {
      for (const broken of [{ self: "77" }, { self: "nowhere" }, { bootId: "" }, { bootId: "b".repeat(65) }]) {
        const { look, own } = yield* looking(broken, { 77: stat(77, "900") })
        assert.deepStrictEqual(own, { pid: process.pid })
        assert.strictEqual(yield* look(other()), "unknown")
        assert.strictEqual(yield* look(other({ pid: 78 })), "unknown")
      }
    }))

  it.scoped("alive, gone or unknown by state, start, boot, machine and namespace", () =>
    Effect.gen(function*() {
      const lives = { 77: stat(77, "900") }
      const rows: ReadonlyArray<readonly [string, Machine, Record<number, string>, IdentifiedProcess, string]> = [
        ["runs", {}, lives, other(), "alive"],
        ["runs, no machine id", { machineId: "" }, lives, other({ machineId: "" }), "alive"],
        ["missing", {}, {}, other(), "gone"],
        ["given out again", {}, { 77: stat(77, "901") }, other(), "gone"],
        ["zombie", {}, { 77: stat(77, "900", "Z") }, other(), "gone"],
        ["dead", {}, { 77: stat(77, "900", "X") }, other(), "gone"],
        ["dead, old kernels", {}, { 77: stat(77, "900", "x") }, other(), "gone"],
        ["stopped", {}, { 77: stat(77, "900", "T") }, other(), "alive"],
        ["earlier boot", {}, lives, other({ bootId: "earlier" }), "gone"],
        ["boot of another machine", {}, {}, other({ bootId: "earlier", machineId: "another" }), "unknown"],
        ["other boot, machine unknown", { machineId: "" }, {}, other({ bootId: "earlier", machineId: "" }), "unknown"],
        ["other boot, its machine unknown", {}, {}, other({ bootId: "earlier", machineId: "" }), "unknown"],
        ["other namespace", {}, {}, other({ pidNamespace: "pid:[2]" }), "unknown"],
        ["other namespace, earlier boot", {}, {}, other({ pidNamespace: "pid:[2]", bootId: "earlier" }), "gone"],
        ["pid only", {}, lives, { pid: 77 }, "unknown"],
        ["pid only, missing", {}, {}, { pid: 77 }, "unknown"],
        ["not a stat", {}, { 77: "77 (node" }, other(), "unknown"],
        ["empty", {}, { 77: "" }, other(), "unknown"],
        ["endless", {}, { 77: `77 (${"a".repeat(100_000)}) Z` }, other(), "unknown"]
      ]
      for (const [name, machine, others, process, expected] of rows) {
        const { look } = yield* looking(machine, others)
        assert.strictEqual(yield* look(process), expected, name)
      }
    }))

  it.scoped("a command's name deceives nobody", () =>
    Effect.gen(function*() {
      for (
        const command of [
          "a) S 1 (b",
          ") Z 1 2 3",
          "a b c",
          "((",
          "))",
          "a\nb",
          "x) Z 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 ("
        ]
      ) {
        const { look } = yield* looking({}, { 77: stat(77, "900", "S", command) })
        assert.strictEqual(yield* look(other()), "alive", command)
        assert.strictEqual(yield* look(other({ startTicks: "1" })), "gone", command)
      }
    }))

  it.scoped("what cannot be read, or would block, is unknown", () =>
    Effect.gen(function*() {
      const { machineId, procfs } = yield* tree()
      const { look } = yield* make(procfs, machineId)
      const file = path.join(procfs, "77/stat")
      mkdirSync(file, { recursive: true })
      assert.strictEqual(yield* look(other()), "unknown")
      rmSync(file, { recursive: true })
      execFileSync("mkfifo", [file])
      assert.strictEqual(yield* look(other()), "unknown")
      rmSync(file)
      symlinkSync("stat", file)
      assert.strictEqual(yield* look(other()), "unknown")
    }))

  it.scoped("a procfs that stops showing this process proves nothing more", () =>
    Effect.gen(function*() {
      const { machineId, procfs } = yield* tree()
      const { look } = yield* make(procfs, machineId)
      assert.strictEqual(yield* look(other()), "gone")
      rmSync(path.join(procfs, "self"))
      assert.strictEqual(yield* look(other()), "unknown")
    }))

  it.scoped("a pid that is none is refused before any read", () =>
    Effect.gen(function*() {
      const { look } = yield* looking()
      for (const pid of [0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
        assert.strictEqual(yield* look(other({ pid })), "unknown")
      }
    }))
})
