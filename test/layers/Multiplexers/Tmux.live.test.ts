import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { launchScript } from "../../../src/domain/TmuxArguments.ts"
import * as Node from "../../../src/layers/CommandRunner/Node.ts"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { CommandRunner } from "../../../src/services/CommandRunner.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { isRunning, published } from "../../support/Processes.ts"
import * as StateMemory from "../../support/StateMemory.ts"
import { type RealTmux, realTmux } from "../../support/Tmux.ts"

const use = <A, E>(variables: Readonly<Record<string, string>>, effect: Effect.Effect<A, E, Multiplexers>) =>
  Effect.provide(
    effect,
    Live.layer.pipe(
      Layer.provide(Node.layer),
      Layer.provide(Layer.provideMerge(Procfs.layer, platformAs("linux"))),
      Layer.provide(Layer.merge(StateMemory.layer, IdsTest.layer)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
    )
  )

const probe = join(import.meta.dirname, "probe.cjs")
const Seen = Schema.parseJson(Schema.Struct({
  argv: Schema.Array(Schema.String),
  cwd: Schema.String,
  env: Schema.Record({ key: Schema.String, value: Schema.String }),
  pid: Schema.Number
}))

/** Launches the probe with these arguments in a directory and answers what it saw. */
const launchProbe = (
  tmux: RealTmux,
  directory: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function*() {
    const out = join(tmux.folder, "seen.json")
    const launched = yield* use(
      tmux.variables,
      Effect.flatMap(Multiplexers, (all) =>
        all.of("tmux").launch({
          root: "/",
          argv: [process.execPath, probe, ...args],
          directory,
          environment: { ...environment, PROBE_OUT: out }
        }))
    )
    const seen = yield* Effect.flatMap(published(out), Schema.decode(Seen))
    return { launched, seen }
  })

const launchTrue = (variables: Readonly<Record<string, string>>) =>
  use(
    variables,
    Effect.flatMap(Multiplexers, (all) =>
      all.of("tmux").launch({ root: "/", argv: ["true"], directory: process.cwd(), environment: {} }))
  )

/** The pids of tmux clients that talk to this server. */
const clients = (tmux: RealTmux): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`) || !isRunning(Number(pid))) return false
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(`tmux\0-u\0-S\0${tmux.socket}\0list-panes`)
  })

const hostile = [
  "",
  "-",
  "-x",
  "--",
  " a  b ",
  "'",
  "\"",
  "`id`",
  "$HOME $(id)",
  "\\",
  "a\\;",
  "a\nb\n",
  "\t\u001b",
  "#{pid}",
  "#(touch X)",
  "##[x]",
  "*",
  "%H%%",
  "é€😀",
  ";",
  "a;",
  "\\;",
  ""
]

describe("tmux, for real", () => {
  it.scopedLive("directory, arguments and environment reach the program exactly", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux({ PATH: "/usr/bin:/bin", END: "the server's" })
      const mark = `${basename(tmux.folder)}-ran`
      const directory = join(
        tmux.folder,
        `-a  b '"$HOME \`id\` \\ \n#(touch ${mark})#{pid}##[k é€😀 %H%%`,
        "-last;"
      )
      mkdirSync(directory, { recursive: true })
      const environment = { PATH: process.env["PATH"] ?? "", EMPTY: "", ODD: "a=b\n#{pid} '\"$x \\;", END: ";" }
      const { launched, seen } = yield* launchProbe(tmux, directory, hostile, environment)
      assert.deepStrictEqual(seen.argv, hostile)
      assert.strictEqual(seen.cwd, directory)
      assert.strictEqual(seen.env["PWD"], directory)
      for (const [name, value] of Object.entries(environment)) assert.strictEqual(seen.env[name], value, name)
      // Pi is the pane's first process: what the close proofs of spec 6 rest on.
      const pane = yield* tmux.run([
        "display-message",
        "-p",
        "-t",
        launched.pane,
        "#{pane_id} #{window_id} #{pane_pid} #{window_name}"
      ])
      assert.strictEqual(pane, `${launched.pane} ${launched.tab} ${seen.pid} intercom\n`)
      const focus = yield* tmux.run(["display-message", "-p", "-t", "anchor:", "#{window_index}"])
      assert.strictEqual(focus, "0\n")
      for (const folder of [tmux.folder, process.cwd(), directory]) assert.isFalse(existsSync(join(folder, mark)))
    }))

  it.scopedLive("variables of other sessions and multiplexers are removed, everything else is as it was", () =>
    Effect.gen(function*() {
      const kept = {
        KEPT: "a\nexport HERDR_FAKE='1'\nPI_SESSION_FAKE=2\n* 'x' \"y\" $z",
        line: "of the loop",
        IFS_: " \t",
        PI_SESSIONS: "not ours",
        PI_CODING_AGENT_SESSION_DIR: "/sessions"
      }
      const tmux = yield* realTmux({
        ...kept,
        HERDR_ENV: "1",
        HERDR_PANE_ID: "multi\nline",
        HERDR_: "",
        PI_SESSION_ID: "x' y",
        PI_SESSION_FILE: "*\n"
      })
      yield* tmux.run(["set-environment", "-t", "anchor:", "HERDR_LATE", "2"])
      const { launched, seen } = yield* launchProbe(tmux, tmux.folder, [], { PI_SESSION_GIVEN: "3" })
      assert.deepStrictEqual(
        Object.keys(seen.env).filter((name) => name.startsWith("HERDR_") || name.startsWith("PI_SESSION_")),
        []
      )
      for (const [name, value] of Object.entries(kept)) assert.strictEqual(seen.env[name], value, name)
      assert.strictEqual(seen.env["TMUX_PANE"], launched.pane)
      assert.strictEqual(seen.env["TMUX"]?.startsWith(`${tmux.socket},${tmux.serverPid},`), true)
    }))

  it.scopedLive("the script ends with 126 when the directory went away after it was looked at", () =>
    Effect.gen(function*() {
      const runner = yield* CommandRunner
      const ended = yield* runner.run({
        program: "/bin/sh",
        args: ["-c", launchScript, "intercom-launch", "/nowhere/at/all", "/bin/echo", "ran"],
        deadline: "30 seconds",
        maxOutputBytes: 4096
      })
      assert.deepStrictEqual([ended.code, ended.stdout], [126, ""])
    }).pipe(Effect.provide(Node.layer)))

  for (const shell of ["bash", "dash"]) {
    it.scopedLive(`the script means the same to ${shell}`, () =>
      Effect.gen(function*() {
        const runner = yield* CommandRunner
        const ended = yield* runner.run({
          program: shell,
          args: [...(shell === "bash" ? ["--posix"] : []), "-c", launchScript, "launch", "/", "/usr/bin/env"],
          environment: { PATH: process.env["PATH"] ?? "", line: "x", HERDR_A: "\nHERDR_B=1", PI_SESSION_ID: "y" },
          deadline: "30 seconds",
          maxOutputBytes: 64 * 1024
        })
        const names = ended.stdout.split("\n").map((line) => line.split("=")[0] ?? "").filter((name) => name !== "_")
        assert.deepStrictEqual(names.filter((name) => !["", "PWD", "OLDPWD", "SHLVL"].includes(name)).sort(), [
          "PATH",
          "line"
        ])
        assert.strictEqual(ended.stderr, "")
      }).pipe(Effect.provide(Node.layer)))
  }

  it.scopedLive("a program that is missing was submitted all the same", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux()
      const launched = yield* use(
        tmux.variables,
        Effect.flatMap(Multiplexers, (all) =>
          all.of("tmux").launch({ root: "/", argv: ["/nowhere/pi"], directory: tmux.folder, environment: {} }))
      )
      assert.match(launched.pane, /^%\d+$/)
    }))

  it.scopedLive("a title is exact, stays, and runs nothing", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux()
      const name = `-n #{pid} #(touch ${tmux.folder}/X) é€ %H "q" 'r' \\ end;`
      yield* use(tmux.variables, Effect.flatMap(Multiplexers, (all) => all.title(name)))
      const shown = yield* tmux.run(["display-message", "-p", "-t", tmux.variables.TMUX_PANE, "#{window_name}"])
      // tmux itself shows a backslash in a name doubled, so that it stays readable in its own syntax.
      assert.strictEqual(shown, `${name.replace("\\", "\\\\")}\n`)
      for (const option of ["automatic-rename", "allow-rename"]) {
        const set = yield* tmux.run(["show-options", "-w", "-v", "-t", tmux.variables.TMUX_PANE, option])
        assert.strictEqual(set, "off\n", option)
      }
      assert.isFalse(existsSync(join(tmux.folder, "X")))
    }))

  it.scopedLive("a server that ended, and another one at its socket", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux()
      yield* tmux.run(["kill-server"])
      yield* eventuallyTrue("the end of the server", Effect.sync(() => !isRunning(tmux.serverPid)))
      const gone = yield* Effect.flip(launchTrue(tmux.variables))
      assert.strictEqual(gone.reason, "not_inside")
      assert.include(gone.message, "is not running any more")
      yield* tmux.run(["new-session", "-d", "-s", "other", "--", "sleep", "86400"])
      const other = yield* Effect.flip(launchTrue(tmux.variables))
      assert.strictEqual(other.reason, "not_inside")
      assert.include(other.message, "another one has its socket")
      assert.strictEqual((yield* tmux.panes).length, 1)
    }))

  it.scopedLive("a pane that is gone, and one that is dead", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux()
      yield* tmux.run(["set-option", "-g", "remain-on-exit", "on"])
      const dead = (yield* tmux.run(["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "anchor:", "--", "true", "x"]))
        .trim()
      yield* eventuallyTrue(
        "the death of the pane",
        Effect.map(tmux.run(["display-message", "-p", "-t", dead, "#{pane_dead}"]), (text) => text === "1\n")
      )
      for (const pane of ["%99", dead]) {
        const error = yield* Effect.flip(launchTrue({ ...tmux.variables, TMUX_PANE: pane }))
        assert.strictEqual(error.reason, "not_inside")
        assert.include(error.message, `pane ${pane} is not there any more`)
      }
    }))

  it.scopedLive("a server that hangs holds nobody longer than the deadline", () =>
    Effect.gen(function*() {
      const tmux = yield* realTmux()
      yield* Effect.acquireRelease(
        Effect.sync(() => process.kill(tmux.serverPid, "SIGSTOP")),
        () => Effect.sync(() => process.kill(tmux.serverPid, "SIGCONT"))
      )
      const error = yield* Effect.flip(launchTrue(tmux.variables))
      assert.strictEqual(error.reason, "failed")
      assert.include(error.message, "did not answer in time")
      assert.deepStrictEqual(clients(tmux), [])
    }))
})
