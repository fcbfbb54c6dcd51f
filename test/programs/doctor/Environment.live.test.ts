import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import * as Looking from "../../../src/layers/Looking.ts"
import * as Multiplexers from "../../../src/layers/Multiplexers/Live.ts"
import { examineHere, examineRoot } from "../../../src/programs/doctor/Doctor.ts"
import { Surroundings } from "../../../src/services/Surroundings.ts"
import { assertOnly, type Examined, examined } from "../../support/doctor/Examined.ts"
import { realTmux } from "../../support/Tmux.ts"

// Pi's own resolution looks at it, in this process.
vi.stubEnv("PI_OFFLINE", "1")

const surroundings = Layer.succeed(Surroundings, { node: "22.19.0", pi: Effect.succeed(Option.some("1.6.0")) })
const looking = Layer.provideMerge(surroundings, Looking.layer)

/** What is found by the program, or in the Pi of a session, that was started with these variables. */
const found = (team: Examined, variables: Readonly<Record<string, string>>, session?: string) =>
  (session === undefined ? examineRoot(team.root) : examineHere(team.root, session)).pipe(
    Effect.provide(looking),
    Effect.withConfigProvider(
      ConfigProvider.fromMap(new Map(Object.entries({ PI_INTERCOM_STATE_DIR: team.state, ...variables })))
    ),
    // Whether this process runs in tmux is not what is asked here.
    Effect.map((one) => ({ ...one, findings: one.findings.filter(({ code }) => code !== "multiplexer_outside") }))
  )

describe("variables that Pi was started with", () => {
  for (
    const [what, wrong, says] of [
      ["relative", () => "team", /^The folder in PI_INTERCOM_ROOT, "team", cannot .*: it is not an absolute path; /],
      ["nowhere", ({ base }: Examined) => join(base, "none"), /^The folder in PI_INTERCOM_ROOT, .*none, .* not exist; /]
    ] as const
  ) {
    it.scopedLive(`PI_INTERCOM_ROOT, ${what}: until it was set right`, () =>
      Effect.gen(function*() {
        const team = yield* examined
        yield* team.member("c-1")
        const { findings } = yield* found(team, { PI_INTERCOM_ROOT: wrong(team) }, "c-1")
        assertOnly(
          findings,
          "config_misnamed",
          says,
          /^Set PI_INTERCOM_ROOT to the absolute path of .*start Pi again\.$/
        )
        assert.deepStrictEqual((yield* found(team, { PI_INTERCOM_ROOT: team.root }, "c-1")).findings, [])
      }))
  }

  it.scopedLive("PI_INTERCOM_STATE_DIR, relative: until it was set right", () =>
    Effect.gen(function*() {
      const team = yield* examined
      assertOnly(
        (yield* found(team, { PI_INTERCOM_STATE_DIR: "mine" })).findings,
        "state_unusable",
        /^The folder or file "mine" cannot be used: it stands in PI_INTERCOM_STATE_DIR, which must hold an absolute path, so/,
        /^Set that variable to a private folder of yours, or unset it, and start Pi again\.$/
      )
      assert.deepStrictEqual((yield* found(team, {})).findings, [])
    }))

  it.scopedLive("state that the open sessions keep elsewhere: until the doctor runs with what their Pi has", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const elsewhere = { PI_INTERCOM_STATE_DIR: join(team.base, "another") }
      const unasked = yield* found(team, elsewhere)
      assert.deepStrictEqual(unasked.findings, [])
      assert.match(
        unasked.notChecked.join(),
        /^locks, resumes and .*another holds nothing of this team: none of its sess/
      )
      yield* team.member("c-1")
      yield* team.member("w-1")
      assertOnly(
        (yield* found(team, elsewhere)).findings,
        "state_elsewhere",
        /^What answers as Coordinator, Ada cannot be judged from here: .*another, where this looked, holds nothing private/,
        /^Run this with the PI_INTERCOM_STATE_DIR and XDG_STATE_HOME that their Pi was started with, or type \/intercom/
      )
      assert.deepStrictEqual((yield* found(team, {})).findings, [])
    }))

  it.scopedLive("another secret than that of the open sessions: until the doctor runs with what their Pi has", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* team.member("c-1")
      const another = join(team.base, "another")
      fs.cpSync(team.state, another, { recursive: true, mode: fs.constants.COPYFILE_FICLONE })
      const own = join(another, fs.readdirSync(another)[0] ?? "")
      for (const name of fs.readdirSync(own)) if (name.endsWith(".lock")) fs.rmSync(join(own, name))
      fs.chmodSync(own, 0o700)
      fs.writeFileSync(join(own, "secret"), Buffer.alloc(32, 7), { mode: 0o600 })
      assertOnly(
        (yield* found(team, { PI_INTERCOM_STATE_DIR: another })).findings,
        "port_unproven",
        /of Coordinator is held by something that has its name and cannot prove it/,
        /^If that is Coordinator's Pi, it was started with another PI_INTERCOM_STATE_DIR or XDG_STATE_HOME than this: /
      )
      assert.deepStrictEqual((yield* found(team, {})).findings, [])
    }))
})

describe("a team that nobody coordinates", () => {
  const nobody = /^Nobody coordinates the team now: nothing listens on port \d+, which its coordinator had last, so/

  it.scopedLive("while a worker is there: until the coordinator's session was opened", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* team.member("w-1")
      const { findings } = yield* found(team, {})
      assertOnly(
        findings,
        "coordinator_absent",
        nobody,
        /^Open the coordinator's session with pi --session c-1, or run/
      )
      assertOnly(
        (yield* found(team, {}, "w-1")).findings,
        "coordinator_absent",
        nobody,
        /run \/intercom takeover in the/
      )
      yield* team.member("c-1")
      assert.deepStrictEqual((yield* found(team, {})).findings, [])
    }))

  it.scopedLive("while a worker is there: until it has taken over", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const worker = yield* team.member("w-1")
      assertOnly((yield* found(team, {}, "w-1")).findings, "coordinator_absent", nobody, /^Open the coordinator/)
      worker.host.answer = () => Effect.succeed(true)
      yield* worker.command("takeover")
      assert.deepStrictEqual((yield* found(team, {}, "w-1")).findings, [])
    }))

  it.scopedLive("asked in its own, inactive session; and not while all are closed, when it is said how to open it", () =>
    Effect.gen(function*() {
      const team = yield* examined
      assertOnly(
        (yield* found(team, {}, "c-1")).findings,
        "coordinator_absent",
        nobody,
        /^This is the coordinator's session/
      )
      const { findings, notChecked } = yield* found(team, {})
      assert.deepStrictEqual(findings, [])
      assert.include(
        notChecked,
        "who answers, since no session of this team is open; pi --session c-1 opens its coordinator's"
      )
    }))
})

describe("the terminal that the coordinator runs in", () => {
  it.scopedLive("is not the team's: until its session runs inside tmux", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* team.member("c-1")
      const tmux = yield* realTmux({})
      const format = "#{socket_path},#{pid},0 #{pane_id}"
      const opened = yield* tmux.run(["new-session", "-d", "-P", "-F", format, "--", "sleep", "1000"])
      const [TMUX = "", TMUX_PANE = ""] = opened.trim().split(" ")
      const seen = (variables: Readonly<Record<string, string>>) =>
        examineHere(team.root, "c-1").pipe(
          Effect.provide(Layer.provideMerge(Multiplexers.layer, looking)),
          Effect.withConfigProvider(
            ConfigProvider.fromMap(new Map(Object.entries({ PI_INTERCOM_STATE_DIR: team.state, ...variables })))
          ),
          Effect.map(({ findings }) => findings)
        )
      assertOnly(
        yield* seen({}),
        "multiplexer_outside",
        /^The team opens workers in tmux, and this session, its coordinator, does not run inside tmux\./,
        /^Open this session inside tmux, or let your agent choose the multiplexer that it runs in\.$/
      )
      assert.deepStrictEqual([...(yield* seen({ TMUX, TMUX_PANE }))], [])
    }))
})
