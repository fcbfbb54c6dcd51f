import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { launchScript, quoted } from "../../src/domain/PosixShell.ts"
import { temporaryFolder } from "../support/TempFolder.ts"

/** Everything that a shell, or the next one, could take for its own; no NUL, no half surrogates (no program can get either). */
const hostile = FastCheck.stringOf(
  FastCheck.oneof(
    FastCheck.constantFrom(
      "'",
      "\"",
      "\\",
      "$",
      "`",
      "\n",
      "\r",
      "\t",
      " ",
      "-",
      "!",
      "*",
      "~",
      "#",
      ";",
      "&",
      "|",
      "(",
      "%"
    ),
    FastCheck.constantFrom(
      "$(",
      "${",
      "'\\''",
      "é",
      "漢",
      "🙂",
      "‘",
      "\u0001",
      "\u007f",
      "\u0081",
      "\u0088",
      "\u202e",
      "EOF"
    ),
    FastCheck.fullUnicode().filter((char) => char !== "\0" && !/^[\ud800-\udfff]$/.test(char))
  ),
  { maxLength: 24 }
)
/** The same as it may be a file's name. */
const name = hostile.filter((text) => text !== "" && text !== "." && text !== ".." && !text.includes("/"))
  .filter((text) => Buffer.byteLength(text) <= 200)
const environment = FastCheck.dictionary(
  FastCheck.constantFrom("PI_INTERCOM_ROOT", "A", "PI_CODING_AGENT_DIR"),
  hostile
)
const edges = [
  "",
  "-",
  "--",
  "-e",
  "a\n",
  "\n",
  "'",
  "''",
  "\\",
  "a\\",
  "$HOME",
  "$(id)",
  "`id`",
  "é漢🙂",
  "\r\n",
  "~",
  "*"
]

const shells = ["/bin/sh", "/bin/bash"].filter((shell) => fs.existsSync(shell))

const report = "process.stdout.write(JSON.stringify({cwd:process.cwd(),argv:process.argv.slice(1),env:process.env}))"

describe("PosixShell", () => {
  it("there is a shell to run by", () => assert.isAbove(shells.length, 0))

  for (const shell of shells) {
    it(`a quoted text is one word, and exactly that text, by ${shell}`, () => {
      const batches = FastCheck.array(hostile, { minLength: 100, maxLength: 200 })
      FastCheck.assert(
        FastCheck.property(batches, (drawn) => {
          const texts = [...edges, ...drawn]
          const said = execFileSync(shell, ["-c", `printf '%s\\0' ${texts.map(quoted).join(" ")}`]).toString("utf8")
          assert.deepStrictEqual(said.split("\0").slice(0, -1), texts)
        }),
        { numRuns: 20 }
      )
    })

    it.scopedLive(`directory, environment and arguments of a launch arrive byte for byte, by ${shell}`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const node = process.execPath
        FastCheck.assert(
          FastCheck.property(name, name, FastCheck.array(hostile), environment, (script, below, drawn, variables) => {
            const path = join(folder, `${script}.sh`)
            const directory = join(folder, `d${below}`)
            fs.mkdirSync(directory, { recursive: true })
            const argv = [node, "-e", report, "--", ...drawn, ...edges] as const
            fs.writeFileSync(path, launchScript(path, { argv, directory, environment: variables }))
            const ended = spawnSync(shell, [path], { env: { PATH: "/usr/bin:/bin", HOME: "/" }, encoding: "utf8" })
            assert.strictEqual(ended.stderr, "")
            const said = JSON.parse(ended.stdout)
            assert.strictEqual(said.cwd, directory)
            assert.deepStrictEqual(said.argv, [...drawn, ...edges])
            for (const [key, value] of Object.entries(variables)) assert.strictEqual(said.env[key], value)
            assert.isFalse(fs.existsSync(path))
          }),
          { numRuns: 25 }
        )
      }))

    it.scopedLive(`what belongs to other sessions and to tmux is gone, and Herdr's stays, by ${shell}`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const path = join(folder, "l.sh")
        const argv = [process.execPath, "-e", report] as const
        fs.writeFileSync(path, launchScript(path, { argv, directory: folder, environment: { B: "new" } }))
        const kept = {
          PATH: "/usr/bin:/bin",
          HERDR_PANE_ID: "w1:p1",
          HERDR_ENV: "1",
          MULTI: "a\nexport TMUX=1\nPI_SESSION_X='\n*",
          PI_SESSIONS: "kept",
          XTMUX: "kept",
          line: "kept",
          IFS_LIKE: " \t\n"
        }
        const gone = {
          TMUX: "/tmp/x,1,0",
          TMUX_PANE: "%1",
          TMUX_TMPDIR: "/t",
          PI_SESSION_ID: "s",
          PI_SESSION_: "$(id)"
        }
        const ended = spawnSync(shell, [path], { env: { ...kept, ...gone, B: "old" }, encoding: "utf8" })
        assert.strictEqual(ended.stderr, "")
        const { env } = JSON.parse(ended.stdout)
        for (const [key, value] of Object.entries({ ...kept, B: "new" })) assert.strictEqual(env[key], value, key)
        for (const key of Object.keys(gone)) assert.notProperty(env, key)
      }))

    it.scopedLive(`a directory that is gone ends it with 126, and a program that is missing with 127, by ${shell}`, () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const path = join(folder, "l.sh")
        const run = (directory: string, argv: readonly [string, ...Array<string>]) => {
          fs.writeFileSync(path, launchScript(path, { argv, directory, environment: {} }))
          const { status, stdout } = spawnSync(shell, [path], { encoding: "utf8" })
          assert.isFalse(fs.existsSync(path), "it removes itself whatever comes")
          return { status, stdout }
        }
        assert.deepStrictEqual(run(join(folder, "gone"), ["/bin/echo", "ran"]), { status: 126, stdout: "" })
        assert.deepStrictEqual(run(folder, [join(folder, "no program")]), { status: 127, stdout: "" })
        assert.deepStrictEqual(run(folder, ["/bin/echo", "ran"]), { status: 0, stdout: "ran\n" })
      }))
  }
})
