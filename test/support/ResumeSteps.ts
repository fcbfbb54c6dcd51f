import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { attemptOf, emptyLedger } from "../../src/domain/Ledger.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import type { makeMachine } from "./SimulatedTeam.ts"
import { during, makeTeam } from "./TeamSteps.ts"

type Machine = ReturnType<typeof makeMachine>
/** A session of such a machine. */
export type Session = Effect.Effect.Success<ReturnType<Machine["open"]>>

const adaId = SessionId.make("ada-id")

/** Ada's open resume, if there is one. */
export const attemptIn = (machine: Machine) => attemptOf(machine.ledgers.get("/work") ?? emptyLedger, adaId)

/** A team with a worker Ada, whose session is saved and was quit; and one that runs, Ben. */
export const closedAda = Effect.gen(function*() {
  const { coordinator, machine, workers } = yield* makeTeam("Ada", "Ben")
  const [ada = coordinator, ben = coordinator] = workers
  yield* ada.close
  machine.pi.saved.add("ada-id")
  return { machine, coordinator, ada, ben }
})

/** Calls the tool for Ada. */
export const resume = (session: Session, args: object = {}) =>
  session.tool("intercom_resume_worker", { to: "Ada", confirmClosed: true, ...args })

/** Refused, with nothing launched and nothing recorded. */
export const refused = (machine: Machine, session: Session, args: object = {}) =>
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

/** Changes the team file behind everybody's back. */
export const change = (machine: Machine, edit: (text: string) => string) =>
  Effect.sync(() => void machine.world.files.set("/work", edit(machine.world.files.get("/work") ?? "")))
