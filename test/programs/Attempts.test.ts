import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { LaunchFailed } from "../../src/domain/Launch.ts"
import type { Observation } from "../../src/domain/Observation.ts"
import { Port, SessionId } from "../../src/domain/Primitives.ts"
import { receive } from "../../src/programs/receive/Receive.ts"
import { attemptIn, change, closedAda, refused, resume, type Session } from "../support/ResumeSteps.ts"
import { during, makeTeam, settle } from "../support/TeamSteps.ts"

const isStatusOfAda = (one: Observation) => one.event === "status.received" && one.peerSessionId === "ada-id"

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
