import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { LaunchFailed } from "../../src/domain/Launch.ts"
import { attemptOf, emptyLedger, maxAttempts } from "../../src/domain/Ledger.ts"
import type { Observation } from "../../src/domain/Observation.ts"
import { Port, SessionId } from "../../src/domain/Primitives.ts"
import { receive } from "../../src/programs/receive/Receive.ts"
import type { makeMachine } from "../support/SimulatedTeam.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

type Machine = ReturnType<typeof makeMachine>
type Session = Effect.Effect.Success<ReturnType<Machine["open"]>>

const adaId = SessionId.make("ada-id")

const attemptIn = (machine: Machine) => attemptOf(machine.ledgers.get("/work") ?? emptyLedger, adaId)

/** A team with a worker Ada, whose session is saved and was quit; and one that runs, Ben. */
const closedAda = Effect.gen(function*() {
  const { coordinator, machine, workers } = yield* makeTeam("Ada", "Ben")
  const [ada = coordinator, ben = coordinator] = workers
  yield* ada.close
  machine.pi.saved.add("ada-id")
  return { machine, coordinator, ada, ben }
})

const resume = (session: Session, args: object = {}) =>
  session.tool("intercom_resume_worker", { to: "Ada", confirmClosed: true, ...args })

/** Refused, with nothing launched and nothing recorded. */
const refused = (machine: Machine, session: Session, args: object = {}) =>
  Effect.gen(function*() {
    const [launches, attempt, file] = [
      machine.terminals.launches.length,
      attemptIn(machine),
      machine.world.files.get("/work")
    ]
    const error = yield* during(Effect.flip(resume(session, args)))
    assert.strictEqual(machine.terminals.launches.length, launches)
    assert.deepStrictEqual(attemptIn(machine), attempt)
    assert.strictEqual(machine.world.files.get("/work"), file)
    assert.notInclude(error.message, "\n")
    return error.message
  })

const isStatusOfAda = (one: Observation) => one.event === "status.received" && one.peerSessionId === "ada-id"

const change = (machine: Machine, edit: (text: string) => string) =>
  Effect.sync(() => void machine.world.files.set("/work", edit(machine.world.files.get("/work") ?? "")))

describe("intercom_resume_worker (spec 5.5)", () => {
  it.scoped("opens the saved session by its file in the worker's directory; it comes back as itself", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const before = machine.world.files.get("/work")
      const text = yield* resume(coordinator)
      assert.deepStrictEqual(JSON.parse(text), {
        submitted: true,
        name: "Ada",
        multiplexer: "tmux",
        tab: "@1",
        pane: "%1",
        projectDirectory: "api",
        registrationAwaited: false,
        note:
          "No work was assigned. Its status arrives by itself once it runs; if none does, look at that tab: Pi may be " +
          "asking the person whether to trust the folder."
      })
      assert.deepStrictEqual(machine.terminals.launches, [{
        root: "/work",
        argv: ["pi", "-e", "/extension.js", "--session", "/saved/work/api/ada-id.jsonl"],
        directory: "/work/api",
        environment: { PATH: "/bin", PI_INTERCOM_ROOT: "/work", PI_INTERCOM_STATE_DIR: "/state" }
      }])
      assert.strictEqual(attemptIn(machine)?.pane, "tmux tmux:1:1 %1")
      assert.strictEqual(machine.world.files.get("/work"), before)

      const back = yield* machine.open("ada-id", "/work/api")
      yield* settle
      assert.strictEqual(back.host.name, "Ada")
      assert.match(Option.getOrThrow(yield* back.section), /You are Ada \(session ada-id\)\. Responsibility: Ada does/)
      assert.deepStrictEqual(back.host.texts, [])
      assert.match(coordinator.host.texts.at(-1) ?? "", /^\[Intercom status from Ada \(ada-id\)\]/)
      assert.isUndefined(attemptIn(machine))
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "go on" })
      assert.strictEqual(back.host.texts.at(-1), "[Intercom message from Coordinator (coordinator-id)]\ngo on")
    }))

  it.scoped("20 calls at once submit one launch", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const calls = Array.from({ length: 20 }, () => Effect.either(resume(coordinator)))
      const results = yield* during(Effect.all(calls, { concurrency: "unbounded" }))
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      assert.strictEqual(machine.terminals.launches.length, 1)
      for (const one of results.filter(Either.isLeft)) {
        assert.match(one.left.message, /earlier resume of Ada is still open/)
      }
    }))

  it.scoped("20 calls at once submit one launch, however fast the worker is back", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const scope = yield* Effect.scope
      machine.terminals.during.do = Effect.asVoid(
        Effect.zipRight(machine.open("ada-id", "/work/api"), Effect.sleep("2 seconds"))
      ).pipe(Scope.extend(scope))
      const calls = Array.from({ length: 20 }, () => Effect.either(resume(coordinator)))
      const results = yield* during(Effect.all(calls, { concurrency: "unbounded" }))
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      assert.strictEqual(machine.terminals.launches.length, 1)
      assert.isUndefined(attemptIn(machine))
      for (const one of results.filter(Either.isLeft)) assert.match(one.left.message, /Ada runs\. Its session answers/)
    }))
})

describe("what intercom_resume_worker refuses, with nothing started (spec 5.5)", () => {
  it.scoped("before the user has said that the old session is closed", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const text = yield* refused(machine, coordinator, { confirmClosed: false })
      assert.match(text, /^Nothing was started: confirmClosed must be true.*Ask the user first\.$/)
    }))

  it.scoped("for anybody but the coordinator, an unknown name, the coordinator", () =>
    Effect.gen(function*() {
      const { ben, coordinator, machine } = yield* closedAda
      assert.match(yield* refused(machine, ben), /^Only the team's coordinator/)
      assert.match(yield* refused(machine, coordinator, { to: "Eve" }), /^Nobody in the team is called "Eve"/)
      assert.match(yield* refused(machine, coordinator, { to: "Coordinator" }), /the target is the coordinator/)
    }))

  it.scoped("under the close fence", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const at = "2999-01-01T00:00:00Z"
      const closeJob = { jobId: "j", state: "uncertain", createdAt: at, updatedAt: at, deadlineAt: at }
      yield* change(machine, (text) =>
        text.replace(`"sessionId": "ada-id"`, `"sessionId": "ada-id", "closeJob": ${JSON.stringify(closeJob)}`))
      assert.match(yield* refused(machine, coordinator), /^Ada is being closed or its close is unsettled/)
    }))

  it.scoped("while it runs; also while another process has its session, whoever answers on its port", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      machine.pi.saved.add("ada-id")
      const { port } = yield* portOf(ada)
      assert.match(
        yield* refused(machine, coordinator),
        new RegExp(`^Nothing was started: Ada runs\\. .*port ${port} `)
      )
      // Its listener is gone, its process is not.
      yield* ada.stop
      const held = new RegExp(`^Ada's saved session is in use by process ${ada.pid} .*Close that session`)
      assert.match(yield* refused(machine, coordinator), held)
      machine.network.squat(port)
      assert.match(yield* refused(machine, coordinator), held)
      machine.locks.hide(ada.pid)
      assert.match(yield* refused(machine, coordinator), /^Ada's saved session may be in use by process/)
    }))

  it.scoped("but not because a squatter answers, or a killed process left its lock", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      machine.pi.saved.add("ada-id")
      machine.network.squat((yield* portOf(ada)).port)
      yield* machine.kill(ada)
      yield* resume(coordinator)
      assert.strictEqual(machine.terminals.launches.length, 1)
    }))

  it.scoped("without a saved session, a directory, or with another copy there", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      machine.pi.saved.clear()
      assert.strictEqual(
        yield* refused(machine, coordinator),
        "Nothing was started: that worker's session is not saved."
      )
      machine.pi.saved.add("ada-id")
      machine.pi.copies.in = "/work/api"
      assert.match(yield* refused(machine, coordinator), /two copies of Intercom\. No tab was opened\.$/)
      machine.pi.copies.in = undefined
      machine.world.folders.set("/work/api", "/work/web")
      assert.strictEqual(
        yield* refused(machine, coordinator),
        "The worker was not launched: Ada's directory api was replaced by a link and leads to web now. No tab was opened."
      )
      machine.world.folders.set("/work/api", "/elsewhere")
      assert.match(yield* refused(machine, coordinator), /Ada works in api, and the project directory is outside/)
      machine.world.folders.delete("/work/api")
      assert.match(yield* refused(machine, coordinator), /Ada works in api, and the project directory does not exist/)
    }))

  const edits: ReadonlyArray<readonly [string, (text: string) => string, RegExp]> = [
    [
      "the entry changed",
      (text) => text.replace("Ada does things.", "Ada does more."),
      /entry in the team file changed/
    ],
    ["the entry was removed", (text) => {
      const config = JSON.parse(text)
      config.agents = config.agents.filter(({ name }: { name: string }) => name !== "Ada")
      return JSON.stringify(config)
    }, /entry in the team file changed/],
    [
      "another session took the team over",
      (text) => text.replace(`"sessionId": "coordinator-id"`, `"sessionId": "another-id"`),
      /does not coordinate the team any more/
    ],
    ["the team file was broken", () => "{", /cannot be used for a team/]
  ]
  for (const [what, edit, sentence] of edits) {
    it.scoped(`${what} during the checks`, () =>
      Effect.gen(function*() {
        const { coordinator, machine } = yield* closedAda
        // The last check before the launch is recorded.
        machine.pi.checking.do = change(machine, edit)
        const error = yield* Effect.flip(resume(coordinator))
        assert.match(error.message, sentence)
        assert.deepStrictEqual(machine.terminals.launches, [])
        assert.isUndefined(attemptIn(machine))
      }))
  }

  it.scoped("its directory was replaced during the checks", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      machine.pi.checking.do = Effect.sync(() => void machine.world.folders.set("/work/api", "/work/web"))
      const error = yield* Effect.flip(resume(coordinator))
      assert.match(error.message, /Ada's directory api was replaced by a link and leads to web now\. No tab was opened/)
      assert.deepStrictEqual(machine.terminals.launches, [])
      assert.isUndefined(attemptIn(machine))
    }))

  it.scoped("while 256 resumes are open", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const at = "2025-11-02T10:15:30Z"
      const attempts = Object.fromEntries(Array.from({ length: maxAttempts }, (_, index) => [`s-${index}`, { at }]))
      machine.ledgers.set("/work", { ...emptyLedger, attempts })
      assert.match(yield* refused(machine, coordinator), /^Nothing was started: 256 resumes are open already/)
    }))
})

describe("an open resume", () => {
  it.scoped("stays through a launch whose outcome is unknown, an interruption, a crash and a restart; not a sure failure", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const fail = (failed: LaunchFailed) => {
        machine.terminals.failing.with = failed
        return Effect.map(Effect.flip(resume(coordinator)), ({ message }) => message)
      }
      assert.match(yield* fail(new LaunchFailed({ reason: "failed", detail: "no" })), /No tab was opened\.$/)
      assert.isUndefined(attemptIn(machine))
      // A tab with nothing but a shell in it.
      const left = yield* fail(new LaunchFailed({ reason: "failed", detail: "no", left: "Tab @7" }))
      assert.match(left, /^The worker was not launched: no\. Tab @7 may have been left behind;[^.]+\.$/)
      assert.isUndefined(attemptIn(machine))
      assert.strictEqual(
        yield* fail(new LaunchFailed({ reason: "unknown", detail: "no" })),
        "It is not known whether the worker was launched: no. A tab may have been opened. The resume of Ada counts as " +
          "open until its status arrives or the person, who has looked that its Pi does not run, runs /intercom resolve Ada."
      )
      assert.deepStrictEqual(Object.keys(attemptIn(machine) ?? {}), ["at"])
      assert.match(
        yield* refused(machine, coordinator),
        /is still open; it was submitted at \S+, and which pane it opened is not known\. Its Pi may be starting/
      )

      machine.ledgers.clear()
      machine.terminals.failing.with = undefined
      const inside = yield* Deferred.make<void>()
      machine.terminals.during.do = Effect.zipRight(Deferred.succeed(inside, undefined), Effect.never)
      const call = yield* Effect.fork(resume(coordinator))
      yield* Deferred.await(inside)
      yield* Fiber.interrupt(call)
      assert.deepStrictEqual(Object.keys(attemptIn(machine) ?? {}), ["at"])

      yield* machine.kill(coordinator)
      machine.terminals.during.do = Effect.void
      const again = yield* machine.open("coordinator-id", "/work")
      assert.match(yield* refused(machine, again), /is still open; .*which pane it opened is not known\./)
      assert.match(yield* again.command(""), /Needs attention: the resume of Ada is open\./)
    }))

  it.scoped("knows the pane in which it may run though its answer was lost, and ends with that very pane", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const trace = "tmux tmux:1:1 %7"
      machine.terminals.failing.with = new LaunchFailed({ reason: "unknown", detail: "no", left: "Tab @7", trace })
      assert.match(
        (yield* Effect.flip(resume(coordinator))).message,
        /Tab @7 may have been left behind.* counts as open until its status arrives, that pane is closed or the person/
      )
      assert.strictEqual(attemptIn(machine)?.pane, trace)
      machine.terminals.failing.with = undefined
      machine.terminals.close("%6")
      assert.match(yield* refused(machine, coordinator), /submitted at \S+ in tmux pane %7\. Its Pi/)
      machine.terminals.close("%7")
      yield* resume(coordinator)
      assert.strictEqual(attemptIn(machine)?.pane, "tmux tmux:1:1 %1")
    }))

  it.scoped("ends when its pane is proven gone: it died before announcing itself", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      yield* resume(coordinator)
      assert.match(
        yield* refused(machine, coordinator),
        /submitted at 1970-01-01T00:00:0\S+Z in tmux pane %1\. Its Pi/
      )
      machine.terminals.close("%1")
      yield* resume(coordinator)
      assert.strictEqual(attemptIn(machine)?.pane, "tmux tmux:1:1 %2")
      machine.terminals.close("%2")
      assert.notMatch(yield* coordinator.command(""), /Needs attention/)
      assert.isUndefined(attemptIn(machine))
    }))

  it.scoped("is not ended by a status that came before it, nor by one of somebody else", () =>
    Effect.gen(function*() {
      const { ben, coordinator, machine, workers: [ada = coordinator] } = yield* Effect.map(
        makeTeam("Ada", "Ben"),
        (team) => ({ ...team, ben: team.workers[1] ?? team.coordinator })
      )
      machine.pi.saved.add("ada-id")
      // It waits to be shown while the worker is quit and resumed.
      const status = yield* Effect.fork(Effect.exit(ada.tool("intercom_report_status")))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => coordinator.observations.recorded.some(isStatusOfAda) })
      yield* ada.close
      yield* resume(coordinator)
      yield* settle
      yield* Fiber.join(status)
      assert.match(coordinator.host.texts.at(-1) ?? "", /status from Ada/)
      assert.isDefined(attemptIn(machine))
      yield* during(ben.tool("intercom_report_status"))
      assert.isDefined(attemptIn(machine))
    }))

  it.scoped("is not ended by an unsigned status: anybody may have sent it", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      yield* resume(coordinator)
      const arrive = (signed: boolean) =>
        during(coordinator.inside(
          receive(
            {
              version: 1,
              kind: "status",
              from: SessionId.make("ada-id"),
              to: SessionId.make("coordinator-id"),
              payload: { port: Port.make(40_001), busy: false }
            },
            signed,
            (step) => step
          )
        ))
      yield* arrive(false)
      assert.match(coordinator.host.texts.at(-1) ?? "", /status from Ada/)
      assert.isDefined(attemptIn(machine))
      yield* arrive(true)
      assert.isUndefined(attemptIn(machine))
    }))

  it.scoped("stays when the worker's entry is removed, and can be settled by its session id", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      yield* resume(coordinator)
      yield* coordinator.tool("intercom_remove_worker", { to: "Ada" })
      assert.isDefined(attemptIn(machine))
      assert.match(yield* coordinator.command(""), /the resume of ada-id is open/)
      coordinator.host.answer = () => Effect.succeed(true)
      assert.match(yield* coordinator.command("resolve ada-id"), /^Recorded: .*ada-id can be resumed again/)
      assert.isUndefined(attemptIn(machine))
    }))
})

describe("/intercom resolve for a resume (spec 4)", () => {
  const asked = (session: Session, answer: Effect.Effect<boolean>) => {
    const questions: Array<string> = []
    session.host.answer = (question) => Effect.zipRight(Effect.sync(() => questions.push(question)), answer)
    return questions
  }

  it.scoped("shows what is known, asks, and records what the person saw", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      yield* resume(coordinator)
      const questions = asked(coordinator, Effect.succeed(false))
      assert.match(yield* coordinator.command("resolve ada"), /^Nothing was recorded: the resume of Ada stays open/)
      assert.match(
        questions.join(),
        /^The resume of Ada \(session ada-id\) was submitted at \S+ in tmux pane %1\. It is not proven that its pane is gone; nothing listens on its port \d+\. Say yes only if/
      )
      assert.isDefined(attemptIn(machine))
      asked(coordinator, Effect.succeed(true))
      assert.match(yield* coordinator.command("resolve Ada"), /^Recorded: .*Ada can be resumed again\.$/)
      assert.isUndefined(attemptIn(machine))
      yield* resume(coordinator)
    }))

  it.scoped("asks nothing where there is proof: the pane is gone, or the session answers", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const questions = asked(coordinator, Effect.succeed(false))
      yield* resume(coordinator)
      machine.terminals.close("%1")
      assert.match(yield* coordinator.command("resolve Ada"), /its pane is proven gone\. It can be resumed again/)
      assert.isUndefined(attemptIn(machine))
      yield* resume(coordinator)
      // Its status is lost on the way.
      machine.network.script(() => ({ _tag: "Drop" }))
      yield* machine.open("ada-id", "/work/api")
      yield* settle
      assert.isDefined(attemptIn(machine))
      assert.match(yield* coordinator.command("resolve Ada"), /it answers on port \d+ and proved to be that session\.$/)
      assert.isUndefined(attemptIn(machine))
      assert.deepStrictEqual(questions, [])
    }))

  it.scoped("refuses what there is nothing to settle of, and anybody but the coordinator, also after the question", () =>
    Effect.gen(function*() {
      const { ben, coordinator, machine } = yield* closedAda
      const said = (session: Session, args: string) =>
        Effect.map(Effect.flip(session.command(args)), ({ message }) => message)
      assert.match(yield* said(coordinator, "resolve Ada"), /^There is nothing to settle of "Ada"/)
      assert.match(yield* said(coordinator, "resolve"), /\/intercom resolve <worker>/)
      yield* resume(coordinator)
      assert.match(yield* said(ben, "resolve Ada"), /^Only the team's coordinator records/)
      asked(
        coordinator,
        Effect.as(change(machine, (text) => text.replace(`"sessionId": "coordinator-id"`, `"sessionId": "x"`)), true)
      )
      assert.match(yield* said(coordinator, "resolve Ada"), /^Only the team's coordinator records/)
      assert.isDefined(attemptIn(machine))
    }))
})
