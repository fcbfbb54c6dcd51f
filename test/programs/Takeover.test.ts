import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { makeMachine } from "../support/SimulatedTeam.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

type Machine = ReturnType<typeof makeMachine>
type Session = Effect.Effect.Success<ReturnType<Machine["open"]>>

const agentsIn = (machine: Machine) => JSON.parse(machine.world.files.get("/work") ?? "").agents

/** The person at this session says yes, and what they were asked is kept. */
const sayYes = (session: Session, meanwhile: Effect.Effect<unknown> = Effect.void) => {
  const questions: Array<string> = []
  session.host.answer = (question) => {
    questions.push(question)
    return Effect.as(meanwhile, true)
  }
  return questions
}

/** A team whose coordinator's process was killed. */
const orphaned = Effect.gen(function*() {
  const { coordinator, machine, workers } = yield* makeTeam("Ada", "Ben")
  const [ada = coordinator, ben = coordinator] = workers
  yield* machine.kill(coordinator)
  return { machine, coordinator, ada, ben, before: machine.world.files.get("/work") ?? "" }
})

describe("/intercom takeover (spec 4)", () => {
  it.scoped("a worker takes the place of a coordinator that was killed, and its team goes on", () =>
    Effect.gen(function*() {
      const { ada, before, ben, machine } = yield* orphaned
      const questions = sayYes(ada)
      const text = yield* ada.command("takeover")
      assert.match(
        questions.join(),
        /^Session coordinator-id coordinates the team of \/work: nothing listens on its port/
      )
      assert.match(questions.join(), /worker entry, Ada, is removed/)
      assert.match(text, /now coordinates the team of \/work, in place of session coordinator-id/)
      assert.match(text, /open it another day, run pi --session ada-id in \/work\/api\.$/)
      const [first, , second] = JSON.parse(before).agents
      assert.deepStrictEqual(agentsIn(machine), [
        { ...first, sessionId: "ada-id", port: (yield* portOf(ada)).port },
        second
      ])
      assert.include(ada.host.tools, "intercom_configure_worker")
      assert.match(Option.getOrThrow(yield* ada.section), /You are Coordinator \(session ada-id\)/)
      // Once by who published, once by who took over.
      assert.deepStrictEqual(machine.world.swept, ["/work", "/work"])

      yield* ben.tool("intercom_report_work", { status: "blocked", summary: "Which port?" })
      assert.strictEqual(ada.host.texts.at(-1), "[Intercom report from Ben (ben-id)]\nstatus: blocked\nWhich port?")
      yield* ada.tool("intercom_send", { to: "Ben", message: "8080" })
      assert.strictEqual(ben.host.texts.at(-1), "[Intercom message from Coordinator (ada-id)]\n8080")
    }))

  it.scoped("the old coordinator, when it comes back, is an anonymous worker and registers", () =>
    Effect.gen(function*() {
      const { ada, machine } = yield* orphaned
      sayYes(ada)
      yield* ada.command("takeover")
      const back = yield* machine.open("coordinator-id", "/work")
      yield* settle
      assert.deepStrictEqual(back.host.tools, ["intercom_report_status"])
      assert.match(
        ada.host.texts.at(-1) ?? "",
        /^\[Intercom registration from unconfigured session \(coordinator-id\)\]/
      )
    }))

  it.scoped("one that still runs is anonymous at its next entry", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      machine.network.squat((yield* portOf(coordinator)).port)
      machine.locks.die(coordinator.pid)
      const questions = sayYes(ada)
      yield* ada.command("takeover")
      assert.match(questions.join(), /whether it is there could not be told/)
      const refused = yield* Effect.flip(coordinator.tool("intercom_remove_worker", { to: "Ada" }))
      assert.strictEqual(refused._tag === "Refused" && refused.reason, "anonymous")
      assert.deepStrictEqual(coordinator.host.tools, ["intercom_report_status"])
      assert.strictEqual(agentsIn(machine)[0].sessionId, "ada-id")
    }))

  it.scoped("a session without an entry may take over too; every worker stays", () =>
    Effect.gen(function*() {
      const { before, machine } = yield* orphaned
      const fresh = yield* machine.open("fresh", "/work")
      yield* settle
      assert.match(fresh.host.notices.join(), /\/intercom takeover/)
      sayYes(fresh)
      assert.notInclude(yield* fresh.command("takeover"), "another day", "it works in the team's own folder")
      assert.deepStrictEqual(agentsIn(machine).slice(1), JSON.parse(before).agents.slice(1))
      assert.strictEqual(agentsIn(machine)[0].sessionId, "fresh")
    }))
})

describe("what /intercom takeover refuses, with nothing changed", () => {
  const reasonOf = (error: { readonly _tag: string; readonly reason?: string }) => `${error._tag} ${error.reason ?? ""}`

  it.scoped("where there is no team, by its coordinator, and while the coordinator proves itself, without asking", () =>
    Effect.gen(function*() {
      const alone = yield* makeMachine("/work").open("s", "/work")
      assert.strictEqual(reasonOf(yield* Effect.flip(alone.command("takeover"))), "Refused no_team")
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      const before = machine.world.files.get("/work")
      const questions = [...sayYes(ada), ...sayYes(coordinator)]
      assert.strictEqual(reasonOf(yield* Effect.flip(coordinator.command("takeover"))), "Refused not_worker")
      const lives = yield* Effect.flip(ada.command("takeover"))
      assert.match(lives.message, /answers on port \d+ and proved to be that session, so nothing was done/)
      assert.deepStrictEqual(questions, [])
      assert.strictEqual(machine.world.files.get("/work"), before)
    }))

  it.scoped("when the person declines", () =>
    Effect.gen(function*() {
      const { ada, before, machine } = yield* orphaned
      assert.strictEqual(yield* ada.command("takeover"), "Not taken over: nothing was changed.")
      assert.strictEqual(machine.world.files.get("/work"), before)
      assert.include(ada.host.tools, "intercom_report_work")
    }))

  it.scoped("while a process has the coordinator's session, whatever its port says", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      const before = machine.world.files.get("/work")
      machine.network.squat((yield* portOf(coordinator)).port)
      sayYes(ada)
      const held = yield* during(Effect.flip(ada.command("takeover")))
      assert.match(held.message, new RegExp(`^The coordinator's session is in use by process ${coordinator.pid} `))
      assert.strictEqual(machine.world.files.get("/work"), before)
    }))

  it.scoped("while nothing can be told of the process that had it, with what the person can do", () =>
    Effect.gen(function*() {
      const { ada, before, coordinator, machine } = yield* orphaned
      machine.locks.hide(coordinator.pid)
      sayYes(ada)
      const unknown = yield* during(Effect.flip(ada.command("takeover")))
      assert.match(unknown.message, /may be in use by process \d+.*remove that file and try again\.$/)
      assert.strictEqual(machine.world.files.get("/work"), before)
    }))

  it.scoped("when the coordinator came back while the person was asked", () =>
    Effect.gen(function*() {
      const { ada, before, machine } = yield* orphaned
      sayYes(ada, Scope.extend(machine.open("coordinator-id", "/work"), yield* Effect.scope))
      const failed = yield* during(Effect.flip(ada.command("takeover")))
      assert.match(failed.message, /^The coordinator's session is in use by process/)
      assert.strictEqual(machine.world.files.get("/work"), before)
    }))

  it.scoped("when the session was replaced while the person was asked", () =>
    Effect.gen(function*() {
      const { ada, before, machine } = yield* orphaned
      sayYes(ada, Effect.sync(() => (ada.host.sessionId = "another")))
      assert.strictEqual((yield* Effect.flip(ada.command("takeover")))._tag, "SessionReplaced")
      assert.strictEqual(machine.world.files.get("/work"), before)
    }))

  it.scoped("when somebody else took over meanwhile", () =>
    Effect.gen(function*() {
      const { ada, ben, machine } = yield* orphaned
      sayYes(ben)
      sayYes(ada, Effect.orDie(ben.command("takeover")))
      const late = yield* Effect.flip(ada.command("takeover"))
      assert.match(late.message, /Another session became the team's coordinator meanwhile/)
      assert.deepStrictEqual(agentsIn(machine).map((agent: { sessionId: string }) => agent.sessionId), [
        "ben-id",
        "ada-id"
      ])
      yield* ada.tool("intercom_send", { to: "Coordinator", message: "yours" })
      assert.strictEqual(ben.host.texts.at(-1), "[Intercom message from Ada (ada-id)]\nyours")
    }))

  it.scoped("of two at the same moment one takes over", () =>
    Effect.gen(function*() {
      const { ada, ben, machine } = yield* orphaned
      for (const session of [ada, ben]) sayYes(session)
      const results = yield* during(
        Effect.all([ada, ben].map((session) => Effect.either(session.command("takeover"))), { concurrency: 2 })
      )
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      const lost = results.findIndex(Either.isLeft)
      assert.deepStrictEqual(
        agentsIn(machine).map((agent: { sessionId: string }) => agent.sessionId),
        lost === 0 ? ["ben-id", "ada-id"] : ["ada-id", "ben-id"]
      )
    }))
})
