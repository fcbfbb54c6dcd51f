import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { encodeConfig } from "../../../src/domain/TeamConfig.ts"
import { disk } from "./Disk.ts"
import { first, session } from "./Sessions.ts"

const ticksOf = (pid: number | string): string =>
  fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[19] ?? ""

/** A process that has ended. */
const gone = (): number => spawnSync("true").pid

const ready = Effect.gen(function*() {
  const place = yield* disk
  const services = yield* session(place.layer)
  yield* place.write(encodeConfig(first()))
  const reports = join(place.folder, "reports")
  fs.mkdirSync(reports)
  // The state folder is made by the first update.
  yield* services.store.sweep(place.root)
  const state = join(place.state, fs.readdirSync(place.state)[0] ?? "")
  fs.mkdirSync(join(state, "launch"), { mode: 0o700 })
  return { ...place, ...services, reports, state }
})

describe("what killed sessions leave (spec 1.4)", () => {
  it.scopedLive("temporaries of processes that are gone are removed, in all four folders, and nothing else", () =>
    Effect.gen(function*() {
      const { file, folder, reports, root, state, store } = yield* ready
      const dead = gone()
      const removed = [
        `${file}.${dead}-1234-1.tmp`,
        // The pid is given out again: another start.
        `${file}.${process.pid}-1-7.tmp`,
        join(reports, `ab.json.${dead}-99-2.tmp`),
        join(state, `config.lock.${dead}-99-2.tmp`),
        join(state, `secret.${dead}-99-2.tmp`),
        join(state, "launch", `b5.sh.${dead}-99-2.tmp`)
      ]
      const kept = [
        `${file}.${process.pid}-${ticksOf("self")}-99.tmp`,
        `${file}.${process.ppid}-${ticksOf(process.ppid)}-1.tmp`,
        // Made without procfs: nothing is proven of such a process.
        `${file}.${dead}-0-1.tmp`,
        `${file}.tmp`,
        join(folder, "notes.0-1-1.tmp"),
        join(folder, `notes.${dead}-1-1.txt`),
        join(folder, `notes.${dead}-x-1.tmp`),
        join(state, "config.lock.takeover"),
        join(state, "launch", "b5.sh")
      ]
      for (const one of [...removed, ...kept]) fs.writeFileSync(one, "x")
      yield* store.sweep(root)
      assert.deepStrictEqual(removed.filter((one) => fs.existsSync(one)), [])
      assert.deepStrictEqual(kept.filter((one) => !fs.existsSync(one)), [])
    }))

  it.scopedLive("a link or a folder with such a name is not touched, nor what it leads to", () =>
    Effect.gen(function*() {
      const { file, root, store } = yield* ready
      const dead = gone()
      const target = join(root, "file")
      const [link, folder] = [`${file}.${dead}-1-1.tmp`, `${file}.${dead}-1-2.tmp`]
      fs.symlinkSync(target, link)
      fs.mkdirSync(folder)
      yield* store.sweep(root)
      assert.isTrue(fs.lstatSync(link).isSymbolicLink())
      assert.isTrue(fs.statSync(folder).isDirectory())
      assert.isTrue(fs.existsSync(target))
    }))

  it.scopedLive("a reports folder that is a link is not entered: a warning, and the others are swept", () =>
    Effect.gen(function*() {
      const { reports, root, state, store } = yield* ready
      const inState = join(state, `secret.${gone()}-1-1.tmp`)
      fs.writeFileSync(inState, "x")
      const outside = join(root, "api")
      const left = join(outside, `ab.json.${gone()}-1-1.tmp`)
      fs.writeFileSync(left, "x")
      fs.rmdirSync(reports)
      fs.symlinkSync(outside, reports)
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => said.push(String(message)))
      yield* store.sweep(root).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      assert.isTrue(fs.existsSync(left))
      assert.isFalse(fs.existsSync(inState))
      assert.lengthOf(said, 1)
      assert.include(said[0], "links are not followed")
    }))
})
