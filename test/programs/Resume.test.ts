import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { attemptOf, emptyLedger, maxAttempts } from "../../src/domain/Ledger.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
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
        assert.match(one.left.message, /earlier resume of Ada was submitted/)
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
