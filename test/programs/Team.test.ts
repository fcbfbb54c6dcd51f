import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { decodeConfig } from "../../src/domain/TeamConfig.ts"
import { makeMachine } from "../support/SimulatedTeam.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

const teamFile = (machine: ReturnType<typeof makeMachine>) => machine.world.files.get("/work") ?? ""

describe("first publication (spec 1.3)", () => {
  it.scoped("opening a session writes nothing and gives the model two tools", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("s-1", "/work")
      assert.isTrue(Exit.isSuccess(session.started))
      assert.strictEqual(machine.world.files.size, 0)
      assert.deepStrictEqual(session.host.tools, ["intercom_create_worker", "intercom_set_multiplexer"])
      assert.deepStrictEqual(session.host.notices, [])
      assert.include(yield* session.command(""), "no team here yet")
    }))

  it.scoped("/intercom start publishes this session as coordinator with its bound port", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("s-1", "/work")
      const text = yield* session.command("start")
      const { port } = yield* portOf(session)
      assert.include(text, "now coordinates the team of /work")
      assert.deepStrictEqual(JSON.parse(teamFile(machine)), {
        version: 1,
        multiplexer: "tmux",
        agents: [{
          sessionId: "s-1",
          name: "Coordinator",
          coordinator: true,
          description: "Coordinates the team: delegates work, reviews reports, keeps the shared configuration.",
          port,
          projectDirectory: "."
        }]
      })
      assert.include(session.host.tools, "intercom_configure_worker")
      assert.isUndefined(session.host.name, "the coordinator's Pi name is the user's")
    }))

  it.scoped("of two sessions told to start a team one coordinates, the other says who does and registers", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const [one, two] = [yield* machine.open("s-1", "/work"), yield* machine.open("s-2", "/work")]
      const results = yield* Effect.all([one, two].map((session) => Effect.either(session.command("start"))), {
        concurrency: 2
      })
      yield* settle
      const winners = results.filter(Either.isRight)
      assert.strictEqual(winners.length, 1)
      const lost = results.findIndex(Either.isLeft)
      const loser = [one, two][lost]
      const winner = [two, one][lost]
      const failure = results[lost]
      assert.isTrue(failure !== undefined && Either.isLeft(failure) && failure.left._tag === "TeamTaken")
      assert.deepStrictEqual(loser?.host.tools, ["intercom_report_status"])
      assert.match(loser?.host.notices.join("") ?? "", /anonymous worker/)
      assert.match(
        winner?.host.texts.join("") ?? "",
        /^\[Intercom registration from unconfigured session \(s-[12]\)\]\n/
      )
      assert.strictEqual(JSON.parse(teamFile(machine)).agents.length, 1)
    }))

  it.scoped("create_worker publishes, launches in the chosen directory and waits for nothing", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work", "/work/api")
      const session = yield* machine.open("s-1", "/work")
      const result = JSON.parse(yield* session.tool("intercom_create_worker", { projectDirectory: "api" }))
      assert.deepInclude(result, {
        submitted: true,
        tab: "@1",
        pane: "%1",
        registrationAwaited: false,
        projectDirectory: "api"
      })
      assert.deepStrictEqual(machine.terminals.launches, [{
        root: "/work",
        argv: ["pi", "-e", "/extension.js"],
        directory: "/work/api",
        environment: { PATH: "/bin", PI_INTERCOM_ROOT: "/work", PI_INTERCOM_STATE_DIR: "/state" }
      }])
    }))

  it.scoped("a bad directory is refused before anything is published", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("s-1", "/work")
      const error = yield* Effect.flip(session.tool("intercom_create_worker", { projectDirectory: "../elsewhere" }))
      assert.strictEqual(error._tag, "ConfigRefused")
      assert.strictEqual(machine.world.files.size, 0)
      assert.deepStrictEqual(machine.terminals.launches, [])
    }))

  it.scoped("a coordinator in memory that finds another's file becomes its anonymous worker, once", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const late = yield* machine.open("late", "/work")
      const winner = yield* machine.open("winner", "/work")
      yield* winner.command("start")
      const error = yield* Effect.flip(late.tool("intercom_create_worker"))
      yield* settle
      yield* Effect.flip(late.tool("intercom_create_worker"))
      yield* settle
      assert.strictEqual(error._tag === "Refused" && error.reason, "anonymous")
      assert.strictEqual(late.host.notices.length, 1)
      assert.strictEqual(winner.host.texts.length, 1)
      assert.deepStrictEqual(machine.terminals.launches, [])
    }))
})

describe("when the coordinator's session is closed", () => {
  it.scoped("a newcomer and /intercom say how the team goes on; starting again is refused in words", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      yield* coordinator.close
      const newcomer = yield* machine.open("new", "/work")
      yield* settle
      assert.match(newcomer.host.notices.join(), /could not be told.*pi --session coordinator-id/)
      assert.include(yield* newcomer.command(""), "pi --session coordinator-id")
      assert.match(
        yield* newcomer.command("start"),
        /^This folder belongs to the team of \/work already, so nothing was started\./
      )
    }))
})

describe("when the coordinator's session refuses a newcomer", () => {
  it.scoped("nobody is told to take the team over: it is there", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      coordinator.host.takes = false
      const newcomer = yield* machine.open("new", "/work")
      yield* settle
      assert.match(
        newcomer.host.notices.join(),
        /could not be told.*The recipient refused it.*session is there: look at it, then run \/reload here/
      )
      assert.notMatch(newcomer.host.notices.join(), /takeover|pi --session/)
    }))
})

describe("a team talks (spec 3, 4)", () => {
  it.scoped("configuring writes only; reloading names the session and its tab and starts no turn", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work", "/work/api")
      const coordinator = yield* machine.open("c", "/work")
      yield* coordinator.command("start")
      const worker = yield* machine.open("w", "/work/api")
      yield* settle
      const { port } = yield* portOf(worker)
      assert.strictEqual(
        coordinator.host.texts[0],
        `[Intercom registration from unconfigured session (w)]\nsessionId: "w"\nport: ${port}\nprojectDirectory: "api"\n` +
          "Configure it with intercom_configure_worker (all five values), then intercom_reload_worker."
      )
      const configured = JSON.parse(
        yield* coordinator.tool("intercom_configure_worker", {
          sessionId: "w",
          port,
          projectDirectory: "api",
          name: "Ada",
          description: "Reviews parsers."
        })
      )
      assert.deepInclude(configured, { written: true, reloaded: false })
      assert.isUndefined(worker.host.name)
      const refused = yield* Effect.flip(worker.tool("intercom_send", { to: "Coordinator", message: "hi" }))
      assert.strictEqual(refused._tag === "Refused" && refused.reason, "unloaded")

      yield* coordinator.tool("intercom_reload_worker", { to: "ada" })
      yield* settle
      assert.strictEqual(worker.host.name, "Ada")
      assert.include(machine.terminals.titles, "Ada")
      assert.include(worker.host.tools, "intercom_send")
      assert.deepStrictEqual(worker.host.texts, [])
      assert.include(
        Option.getOrElse(yield* worker.section, () => ""),
        "You are Ada (session w). Responsibility: Reviews parsers."
      )
    }))

  it.scoped("messages go both ways and between workers, with one header line", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada, ben] } = yield* makeTeam("Ada", "Ben")
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "Look at lexer.ts" })
      yield* ada?.tool("intercom_send", { to: "BEN", message: "What do you think?" }) ?? Effect.die("no Ada")
      yield* ben?.tool("intercom_send", { to: "Coordinator", message: "Fine." }) ?? Effect.die("no Ben")
      assert.deepStrictEqual(ada?.host.texts, [
        "[Intercom message from Coordinator (coordinator-id)]\nLook at lexer.ts"
      ])
      assert.deepStrictEqual(ben?.host.texts, ["[Intercom message from Ada (ada-id)]\nWhat do you think?"])
      assert.strictEqual(coordinator.host.texts.at(-1), "[Intercom message from Ben (ben-id)]\nFine.")
    }))

  it.scoped("registrations within 250 ms of each other are shown as one message, one header each", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const coordinator = yield* machine.open("c", "/work")
      yield* coordinator.command("start")
      yield* Effect.forEach(["w1", "w2", "w3"], (id) => machine.open(id, "/work"))
      yield* settle
      assert.strictEqual(coordinator.host.texts.length, 1)
      assert.strictEqual(
        coordinator.host.texts[0]?.match(/^\[Intercom registration from unconfigured session \(w\d\)\]$/gm)?.length,
        3
      )
    }))

  it.scoped("a report is saved, then told; clear takes it back; status shows it", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada] } = yield* makeTeam("Ada")
      const report = (args: unknown) => ada?.tool("intercom_report_work", args) ?? Effect.die("no Ada")
      const status = Effect.map(
        coordinator.tool("intercom_worker_status"),
        (text) => JSON.parse(text).workers[0].report
      )
      assert.deepStrictEqual(JSON.parse(yield* report({ status: "ready_for_review", summary: "Done:\nall of it" })), {
        accepted: true,
        coordinatorEvaluation: "not awaited"
      })
      assert.strictEqual(
        coordinator.host.texts.at(-1),
        "[Intercom report from Ada (ada-id)]\nstatus: ready_for_review\nDone:\nall of it"
      )
      assert.deepInclude(yield* status, { status: "ready_for_review", summary: "Done:\nall of it", selfReported: true })
      yield* report({ status: "clear" })
      assert.isNull(yield* status)
      const wrong = yield* Effect.flip(report({ status: "blocked" }))
      assert.strictEqual(wrong._tag, "InvalidArguments")
    }))

  it.scoped("request_status brings the worker's port and busy state in a message of its own", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada] } = yield* makeTeam("Ada")
      if (ada !== undefined) ada.host.idle = false
      yield* coordinator.tool("intercom_request_status", { to: "Ada" })
      yield* settle
      assert.match(
        coordinator.host.texts.at(-1) ?? "",
        /^\[Intercom status from Ada \(ada-id\)\]\nport: \d+\nbusy: yes$/
      )
      assert.deepStrictEqual(ada?.host.texts, [])
    }))

  it.scoped("a worker that restarts elsewhere has its saved port updated by its status", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      const before = yield* portOf(ada ?? coordinator)
      yield* ada?.close ?? Effect.void
      machine.network.squat(before.port)
      const again = yield* machine.open("ada-id", "/work/api")
      yield* settle
      const after = yield* portOf(again)
      assert.notStrictEqual(after.port, before.port)
      const saved = Either.getOrThrow(decodeConfig(teamFile(machine))).agents.find((agent) => agent.name === "Ada")
      assert.strictEqual(saved?.port, after.port)
      assert.strictEqual(again.host.name, "Ada")
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "still there?" })
      assert.strictEqual(again.host.texts.length, 1)
    }))

  it.scoped("the three failures to send stay distinct, and nothing is sent twice", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      const send = Effect.flip(coordinator.tool("intercom_send", { to: "Ada", message: "once" }))
      machine.network.script(({ kind }) => kind === "message" ? { _tag: "Refuse" } : undefined)
      assert.strictEqual((yield* send)._tag, "Undelivered")
      machine.network.script(({ kind }) => kind === "message" ? { _tag: "LoseAnswer" } : undefined)
      assert.strictEqual((yield* send)._tag, "OutcomeUnknown")
      assert.strictEqual(ada?.host.texts.length, 1)
      machine.network.script(() => undefined)
      if (ada !== undefined) ada.host.takes = false
      const rejected = yield* send
      assert.isTrue(rejected._tag === "Rejected" && rejected.status === 503)
      assert.strictEqual(ada?.host.texts.length, 1)
    }))

  it.scoped("remove_worker removes the entry only; the worker is anonymous from then on", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      assert.deepStrictEqual(JSON.parse(yield* coordinator.tool("intercom_remove_worker", { to: "Ada" })), {
        removed: true,
        processStopped: false,
        sessionDeleted: false
      })
      assert.strictEqual(JSON.parse(teamFile(machine)).agents.length, 1)
      const refused = yield* Effect.flip(
        ada?.tool("intercom_send", { to: "Coordinator", message: "x" }) ?? Effect.die("")
      )
      assert.strictEqual(refused._tag === "Refused" && refused.reason, "anonymous")
      assert.deepStrictEqual(ada?.host.tools, ["intercom_report_status"])
    }))

  it.scoped("list shows everything but dashboardPort and the handoff's text", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam("Ada")
      const config = JSON.parse(teamFile(machine))
      config.agents[0].dashboardPort = 4000
      config.agents[1].handoff = {
        version: 1,
        jobId: "j",
        summary: "secret text",
        updatedAt: "2026-01-01T00:00:00.000Z"
      }
      machine.world.files.set("/work", JSON.stringify(config))
      const list = yield* coordinator.tool("intercom_list")
      assert.notInclude(list, "dashboardPort")
      assert.notInclude(list, "secret text")
      assert.deepStrictEqual(JSON.parse(list).agents[1].handoff, { jobId: "j", updatedAt: "2026-01-01T00:00:00.000Z" })
    }))

  it.scoped("set_multiplexer changes later launches and nothing else", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      yield* coordinator.tool("intercom_set_multiplexer", { multiplexer: "none" })
      assert.strictEqual(JSON.parse(teamFile(machine)).multiplexer, "none")
      assert.strictEqual(JSON.parse(yield* coordinator.tool("intercom_create_worker")).multiplexer, "none")
    }))

  it.scoped("256 reports may wait; one over is refused before anything is saved", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada] } = yield* makeTeam("Ada")
      yield* coordinator.delivery.hold
      const before = coordinator.host.texts.length
      yield* during(Effect.forEach(Array.from({ length: 64 }), (_, index) =>
        ada?.tool("intercom_report_work", { status: "blocked", summary: `held ${index}` }) ?? Effect.void))
      const over = yield* Effect.flip(
        ada?.tool("intercom_report_work", { status: "blocked", summary: "over" }) ?? Effect.die("")
      )
      assert.match(over.message, /the report is saved, but the coordinator's model could not be told/)
      assert.strictEqual(coordinator.host.texts.length, before)
    }))
})
