import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { SessionId } from "../../src/domain/Primitives.ts"
import { receive } from "../../src/programs/receive/Receive.ts"
import { OwnedLock } from "../../src/services/OwnedLock.ts"
import { makeTeamWorld } from "../support/ConfigMemory.ts"
import { makeLedgerMemory } from "../support/LedgerMemory.ts"
import { makeLockWorld } from "../support/LockMemory.ts"
import { makeReportMemory } from "../support/ReportMemory.ts"
import { makeMachine, makeMachineOn } from "../support/SimulatedTeam.ts"
import * as StateMemory from "../support/StateMemory.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

const teamFile = (machine: ReturnType<typeof makeMachine>) => machine.world.files.get("/work") ?? ""
const coordinatorIn = (machine: ReturnType<typeof makeMachine>) => JSON.parse(teamFile(machine)).agents[0]

/** That the session is not used by two, naming the other's process. */
const isInUseBy = (error: { readonly _tag: string; readonly message: string }, pid: number) => {
  assert.strictEqual(error._tag, "LockNotTaken")
  assert.match(error.message, new RegExp(`^This saved session is in use by process ${pid} \\(.*so nothing was done`))
}

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E =>
  Option.getOrThrow(Exit.isFailure(exit) ? Cause.failureOption(exit.cause) : Option.none())

/** Two processes that have one saved session open, before there is a team. */
const twins = Effect.gen(function*() {
  const machine = makeMachine("/work")
  const one = yield* machine.open("twin", "/work")
  const two = yield* machine.open("twin", "/work")
  return { machine, one, two }
})

describe("one process on one saved session (spec 3.2)", () => {
  it.scoped("at start the second stays inactive and names the first; when that ends another start works", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      for (const [id, owner] of [["coordinator-id", coordinator], ["ada-id", ada ?? coordinator]] as const) {
        const [file, sent] = [teamFile(machine), machine.network.sent.length]
        const second = yield* during(machine.open(id, "/work"))
        isInUseBy(failureOf(second.started), owner.pid)
        assert.deepStrictEqual([teamFile(machine), machine.network.sent.length], [file, sent])
        assert.deepStrictEqual(second.host.tools, [])
        assert.isTrue(Option.isNone(yield* second.membership.port), "it listens nowhere")
        yield* second.close
        assert.include(machine.locks.held(), `/work/session-${id}.lock`)
        yield* owner.close
        assert.notInclude(machine.locks.held(), `/work/session-${id}.lock`)
        const third = yield* machine.open(id, "/work")
        assert.isTrue(Exit.isSuccess(third.started))
      }
    }))

  it.scoped("a killed process's session starts again at once", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      yield* machine.kill(coordinator)
      const again = yield* machine.open("coordinator-id", "/work")
      assert.isTrue(Exit.isSuccess(again.started))
    }))

  it.scoped("what the first does while the second waits is read by the second before it takes a role", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      const opening = yield* Effect.fork(machine.open("ada-id", "/work/api"))
      yield* TestClock.adjust("500 millis")
      yield* coordinator.tool("intercom_remove_worker", { to: "Ada" })
      yield* ada?.close ?? Effect.void
      yield* settle
      const second = yield* Fiber.join(opening)
      assert.deepStrictEqual(second.host.tools, ["intercom_report_status"], "anonymous, not Ada")
    }))

  it.scoped("a file found later is acted on only under the lock, and then as at a start", () =>
    Effect.gen(function*() {
      const { machine, one, two } = yield* twins
      yield* one.command("start")
      const file = teamFile(machine)
      const call = two.tool("intercom_create_worker")
      isInUseBy(yield* during(Effect.flip(call)), one.pid)
      isInUseBy(yield* during(Effect.flip(two.command(""))), one.pid)
      assert.match(Option.getOrThrow(yield* during(two.section)), /^Intercom can open worker/)
      const refusal = yield* during(Effect.flip(two.inside(
        receive(
          {
            version: 1,
            kind: "message",
            from: SessionId.make("x"),
            to: SessionId.make("twin"),
            payload: { message: "hi" }
          },
          true,
          (step) => step
        )
      )))
      assert.strictEqual(refusal.status, 503)
      assert.deepStrictEqual([machine.terminals.launches.length, machine.network.sent.length], [0, 0])
      assert.strictEqual(teamFile(machine), file)
      assert.deepStrictEqual(two.host.texts, [])

      yield* one.close
      yield* call
      assert.strictEqual(machine.terminals.launches.length, 1)
      const { port } = yield* portOf(two)
      assert.deepInclude(coordinatorIn(machine), { sessionId: "twin", port })
      // Once by who published, once by who took over.
      assert.deepStrictEqual(machine.world.swept, ["/work", "/work"])
    }))

  it.scoped("of two that publish at once one does; the other writes nothing", () =>
    Effect.gen(function*() {
      const { machine, one, two } = yield* twins
      const results = yield* during(
        Effect.all([one, two].map((session) => Effect.either(session.command("start"))), { concurrency: 2 })
      )
      const lost = results.findIndex(Either.isLeft)
      const [winner, failure] = [lost === 0 ? two : one, results[lost]]
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      isInUseBy(Option.getOrThrow(Either.getLeft(failure ?? Either.right(""))), winner.pid)
      assert.strictEqual(coordinatorIn(machine).port, (yield* portOf(winner)).port)
    }))

  it.scoped("one that waited to publish, and then found the other's file, coordinates with its own port", () =>
    Effect.gen(function*() {
      const { machine, one, two } = yield* twins
      const started = yield* Effect.fork(Effect.either(one.command("start")))
      const waiting = yield* Effect.fork(Effect.either(two.command("start")))
      yield* TestClock.adjust("500 millis")
      const won = coordinatorIn(machine).port === (yield* portOf(one)).port
      const [winner, loser] = won ? [one, two] : [two, one]
      yield* winner.close
      yield* settle
      const text = Either.getOrThrow(yield* Fiber.join(won ? waiting : started))
      assert.match(text, /now coordinates the team of \/work/)
      assert.strictEqual(coordinatorIn(machine).port, (yield* portOf(loser)).port)
    }))

  it.scoped("an interruption that arrives with the lock leaves none: the next call is not in its own way", () =>
    Effect.gen(function*() {
      const [taken, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const locks = makeLockWorld()
      // It is on the disk, and not yet known to the session, when the person presses Escape.
      const slow = (pid: number) =>
        Layer.map(locks.layerFor(pid), (services) => {
          const real = Context.get(services, OwnedLock)
          const session: typeof real.session = (root, id) =>
            Effect.uninterruptible(
              Effect.zipLeft(
                real.session(root, id),
                Effect.zipRight(Deferred.succeed(taken, undefined), Deferred.await(goOn))
              )
            )
          return Context.make(OwnedLock, { ...real, session })
        })
      const files = Layer.mergeAll(
        makeTeamWorld("/work").layer,
        StateMemory.layer,
        makeReportMemory(),
        makeLedgerMemory().layer
      )
      const session = yield* makeMachineOn(files, slow).open("s-1", "/work")
      const first = yield* Effect.fork(session.command("start"))
      yield* Deferred.await(taken)
      const ending = yield* Effect.fork(Fiber.interrupt(first))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(goOn, undefined)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(ending)))
      assert.deepStrictEqual(locks.held(), [])
      assert.match(yield* during(session.command("start")), /now coordinates the team of \/work/)
    }))

  it.scoped("of two entries that wait for it one joins", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const late = yield* machine.open("late", "/work")
      const winner = yield* machine.open("winner", "/work")
      yield* winner.command("start")
      yield* during(Effect.all([late.command(""), late.command(""), late.section], { concurrency: 3 }))
      yield* settle
      assert.strictEqual(late.host.notices.length, 1)
      assert.strictEqual(winner.host.texts.join().match(/registration/g)?.length, 1)
    }))
})
