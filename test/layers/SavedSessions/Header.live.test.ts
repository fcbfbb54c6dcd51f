import * as Pi16 from "@earendil-works/pi-coding-agent"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { SessionId } from "../../../src/domain/Primitives.ts"
import * as Pi from "../../../src/layers/SavedSessions/Pi.ts"
import { type Header, SavedSessions } from "../../../src/services/SavedSessions.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

const id = SessionId.make("worker-1")
const line = (bytes: number): string => {
  const header = `{"type":"session","id":"${id}","cwd":"/"}`
  return `${" ".repeat(bytes - header.length - 1)}${header}\n`
}
const write = (text: string) => (file: string) => fs.writeFileSync(file, text)

const files: ReadonlyArray<readonly [string, Header, (file: string) => void]> = [
  ["the header and much else", "right", write(`${line(100)}${"x".repeat(100_000)}`)],
  ["a header whose newline is the 4096th byte", "right", write(line(4096))],
  ["a header whose newline is the 4097th byte", "wrong", write(line(4097))],
  ["another session's header", "wrong", write(line(100).replace(id, "worker-2"))],
  ["an id that begins alike", "wrong", write(line(100).replace(id, "worker-10"))],
  ["another type", "wrong", write(line(100).replace("session", "message"))],
  ["no JSON", "wrong", write("{\n")],
  ["no newline", "wrong", write(line(100).trimEnd())],
  ["nothing in it", "wrong", write("")],
  ["a blank line first", "wrong", write(`\n${line(100)}`)],
  ["no file", "absent", () => {}],
  ["no folder", "absent", (file) => fs.rmSync(join(file, ".."), { recursive: true })],
  ["a link to the right file", "wrong", (file) => {
    fs.writeFileSync(`${file}.real`, line(100))
    fs.symlinkSync(`${file}.real`, file)
  }],
  ["a link to nothing", "wrong", (file) => fs.symlinkSync("/nowhere", file)],
  ["a pipe that nobody writes", "wrong", (file) => void execFileSync("mkfifo", [file])],
  ["a folder", "wrong", (file) => fs.mkdirSync(file)]
]

describe("a session file's header (spec 6.3)", () => {
  for (const [what, says, make] of files) {
    it.scopedLive(`${what}: ${says}`, () =>
      Effect.gen(function*() {
        const folder = join(yield* temporaryFolder, "sessions")
        fs.mkdirSync(folder)
        const file = join(folder, "session.jsonl")
        make(file)
        const sessions = yield* Layer.build(
          Layer.provide(Pi.layer({ agentDir: folder, ...Pi16 }), platformAs("linux", folder))
        )
        const header = yield* Effect.provide(
          Effect.flatMap(SavedSessions, (one) => one.header(file, id)),
          sessions
        )
        assert.strictEqual(header, says)
      }))
  }
})
