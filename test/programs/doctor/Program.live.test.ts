import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import { dirname, join } from "node:path"
import { vi } from "vitest"
import { writeBuild } from "../../support/Built.ts"
import { type Examined, examined } from "../../support/doctor/Examined.ts"
import { node22 } from "../../support/HostVersions.ts"
import { temporaryFolder } from "../../support/TempFolder.ts"

// Pi's own resolution looks at it, in this process.
vi.stubEnv("PI_OFFLINE", "1")

/** The built program, where anybody may read it. */
class Program extends Context.Tag("test/Program")<Program, string>() {}
const built = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  fs.chmodSync(folder, 0o755)
  return join(dirname(yield* writeBuild(folder)), "doctor.cjs")
})

interface Run {
  readonly args?: ReadonlyArray<string>
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly node?: string
  readonly uid?: number
}

const Answer = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  root: Schema.String,
  findings: Schema.Array(Schema.Struct({ code: Schema.String, what: Schema.String, advice: Schema.String })),
  more: Schema.Int,
  notChecked: Schema.Array(Schema.String)
}))

const usage = "pi-intercom-doctor [--root <the team's folder>] [--json]"

/** Runs the program for a team, or with other arguments, to its end. */
const run = (team: Pick<Examined, "root" | "state" | "base">, given: Run = {}) =>
  Effect.flatMap(Program, (program) =>
    Effect.async<{ readonly code: number; readonly out: string }>((resume) => {
      const environment = {
        HOME: team.base,
        PATH: `${join(team.base, "bin")}:${dirname(node22)}:/usr/bin:/bin`,
        PI_INTERCOM_STATE_DIR: team.state,
        ...given.environment
      }
      const options = {
        env: environment,
        cwd: given.cwd ?? "/",
        timeout: 60_000,
        ...(given.uid === undefined ? {} : { uid: given.uid })
      }
      execFile(
        given.node ?? node22,
        [program, ...(given.args ?? ["--root", team.root, "--json"])],
        options,
        (error, out, stderr) =>
          resume(
            stderr === "" && (error === null || typeof error.code === "number")
              ? Effect.succeed({ code: Number(error?.code ?? 0), out })
              : Effect.dieMessage(`${error?.message ?? ""}\n${stderr}`)
          )
      )
    }))

/** What it finds, as codes; its exit code says the same. */
const codes = (team: Examined, given: Run = {}) =>
  Effect.gen(function*() {
    const { code, out } = yield* run(team, given)
    const { findings } = yield* Schema.decode(Answer)(out)
    assert.strictEqual(code, findings.length === 0 ? 0 : 1, out)
    return findings.map((one) => one.code)
  })

/** A program of this name on the PATH of the doctor, instead of the machine's. */
const program = ({ base }: Examined, name: string, says: string): void => {
  fs.mkdirSync(join(base, "bin"), { recursive: true })
  fs.writeFileSync(join(base, "bin", name), `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 })
}

layer(Layer.scoped(Program, built), { excludeTestServices: true, timeout: "1 minute" })("pi-intercom-doctor", (it) => {
  it.scoped("says in words and in JSON that nothing is wrong, and what was not checked; the home folder is ~", () =>
    Effect.gen(function*() {
      const team = yield* examined
      program(team, "pi", "1.6.0")
      const text = yield* run(team, { args: ["--root", team.root] })
      assert.deepStrictEqual(text, {
        code: 0,
        out: "Intercom: nothing wrong was found in ~/team.\n" +
          "Not checked: who answers, since no session of this team is open; pi --session c-1 opens its coordinator's.\n" +
          "Not checked: whether Pi would load another copy of Intercom: only /intercom doctor in Pi can tell.\n"
      })
      assert.deepStrictEqual(yield* codes(team), [])
    }))

  it.scoped("could not look: no team, no folder, wrong arguments", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const ended = (...args: ReadonlyArray<string>) => run(team, { args })
      assert.deepStrictEqual(yield* ended("--root", join(team.root, "api")), {
        code: 2,
        out: "Intercom could not look: there is no team file, .pi-intercom/config.json, in ~/team/api.\n"
      })
      assert.deepStrictEqual(yield* ended("--root", join(team.root, "none"), "--json"), {
        code: 2,
        out: `${
          JSON.stringify(
            { version: 1, error: "Intercom could not look: ~/team/none is not a folder that can be read." },
            null,
            2
          )
        }\n`
      })
      for (const args of [[], ["--root"], ["--root", ""], ["--what"], ["team"]]) {
        const { code, out } = yield* ended(...args)
        assert.strictEqual(code, 2)
        assert.match(
          out,
          /^Nothing was done: .*\. Usage: pi-intercom-doctor \[--root <the team's folder>\] \[--json\]\n$/
        )
      }
      const help = yield* ended("--help")
      assert.strictEqual(help.code, 0)
      assert.isTrue(help.out.startsWith(`Usage: ${usage}\n\nSays what is wrong`))
    }))

  it.scoped("could not look: a part of it is missing", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const alone = join(yield* temporaryFolder, "doctor.cjs")
      fs.copyFileSync(yield* Program, alone)
      const ended = (...args: ReadonlyArray<string>) =>
        Effect.provideService(run(team, { args: ["--root", team.root, ...args] }), Program, alone)
      const error = "Intercom could not look: a part of it is missing or does not work. Nothing was changed. Install " +
        "Intercom again."
      assert.deepStrictEqual(yield* ended(), { code: 2, out: `${error}\n` })
      assert.deepStrictEqual(yield* ended("--json"), {
        code: 2,
        out: `${JSON.stringify({ version: 1, error }, null, 2)}\n`
      })
    }))

  it.scoped("a folder may be named from here, and is this one when none is named", () =>
    Effect.gen(function*() {
      const team = yield* examined
      program(team, "pi", "1.6.0")
      assert.deepStrictEqual(yield* codes(team, { cwd: team.base, args: ["--root", "team", "--json"] }), [])
      assert.deepStrictEqual(yield* codes(team, { cwd: team.root, args: ["--json"] }), [])
      const { code, out } = yield* run(team, { cwd: team.base, args: [] })
      assert.strictEqual(code, 2)
      assert.include(out, "there is no team file, .pi-intercom/config.json, in this folder, and --root names no other")
    }))

  it.scoped("an old Pi, an old Node and an old or missing multiplexer, until they were replaced", (context) =>
    Effect.gen(function*() {
      const team = yield* examined
      program(team, "pi", "0.80.0")
      assert.deepStrictEqual(yield* codes(team), ["pi_old"])
      program(team, "pi", "2.1.0")
      assert.deepStrictEqual(yield* codes(team), ["pi_new"])
      program(team, "pi", "1.6.0")
      program(team, "tmux", "tmux 3.1c")
      assert.deepStrictEqual(yield* codes(team), ["multiplexer_old"])
      fs.rmSync(join(team.base, "bin/tmux"))
      assert.deepStrictEqual(yield* codes(team), [])
      const without = { environment: { PATH: join(team.base, "bin") } }
      assert.deepStrictEqual(yield* codes(team, without), ["multiplexer_missing"])
      team.edit((_, config) => Object.assign(config, { multiplexer: "herdr" }))
      assert.deepStrictEqual(yield* codes(team), ["multiplexer_missing"])
      program(team, "herdr", "herdr 0.7.2")
      assert.deepStrictEqual(yield* codes(team), ["multiplexer_old"])
      program(team, "herdr", "herdr 0.9.1")
      assert.deepStrictEqual(yield* codes(team), [])
      const old = "/usr/bin/node"
      if (!fs.existsSync(old)) return context.skip("this machine has no other Node")
      assert.deepStrictEqual(yield* codes(team, { node: old }), ["node_old"])
    }))

  it.scoped("a record of the future, until the logs were removed", () =>
    Effect.gen(function*() {
      const team = yield* examined
      program(team, "pi", "1.6.0")
      const logs = join(team.root, ".pi-intercom/logs")
      const writerId = "00000000-0000-4000-8000-000000000000"
      const ready = {
        version: 1,
        timestamp: "2999-01-01T00:00:00.000Z",
        writerId,
        sessionId: "w-1",
        event: "runtime.ready",
        role: "worker",
        port: 21_532
      }
      fs.writeFileSync(join(logs, `writer-${writerId}.jsonl`), `${JSON.stringify(ready)}\n`, { mode: 0o600 })
      assert.deepStrictEqual(yield* codes(team), ["clock_future"])
      for (const name of fs.readdirSync(logs)) fs.rmSync(join(logs, name))
      assert.deepStrictEqual(yield* codes(team), [])
    }))

  it.scoped("what this user may not read or write, until its advice was followed", (context) =>
    Effect.gen(function*() {
      if (process.getuid?.() !== 0) return context.skip("only root can run as another user")
      const uid = 4242
      const team = yield* examined
      program(team, "pi", "1.6.0")
      fs.chmodSync(team.base, 0o755)
      const give = (folder: string): void => {
        fs.chownSync(folder, uid, uid)
        for (const name of fs.readdirSync(folder, { recursive: true, encoding: "utf8" })) {
          fs.lchownSync(join(folder, name), uid, uid)
        }
      }
      give(team.root)
      give(team.state)
      const logs = join(team.root, ".pi-intercom/logs")
      assert.deepStrictEqual(yield* codes(team, { uid }), [])
      const steps = [
        [team.config, 0o000, 0o600, "config_unreadable"],
        [logs, 0o500, 0o700, "logs_unusable"],
        [join(team.root, ".pi-intercom"), 0o600, 0o700, "config_unreadable", "logs_unusable", "reports_unusable"],
        [team.own, 0o500, 0o700, "state_unusable"],
        [join(team.own, "secret"), 0o000, 0o600, "secret_unusable"]
      ] as const
      for (const [path, wrong, right, ...wanted] of steps) {
        fs.chmodSync(path, wrong)
        assert.deepStrictEqual(new Set(yield* codes(team, { uid })), new Set<string>(wanted), path)
        fs.chmodSync(path, right)
        assert.deepStrictEqual(yield* codes(team, { uid }), [])
      }
    }))

  it.scoped("tells nobody the secret, or whose home it is", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const secret = fs.readFileSync(join(team.own, "secret"))
      fs.chmodSync(join(team.own, "secret"), 0o644)
      const { out } = yield* run(team)
      assert.include(out, "secret_unusable")
      for (const form of ["hex", "base64", "base64url", "latin1"] as const) {
        assert.notInclude(out, secret.toString(form))
      }
      assert.notInclude(out, team.base)
      assert.notInclude(out, os.userInfo().homedir + "/")
    }))
})
