import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { makeMachine } from "./SimulatedTeam.ts"

/** Lets what was forked run, and bursts of registrations be shown. */
export const settle = TestClock.adjust("3 seconds")

/** Runs an effect that waits on the clock, for example for a burst to be shown. */
export const during = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* settle
    return yield* Fiber.join(fiber)
  })

/** A team in `/work`: a published coordinator and one configured, loaded worker for each name. */
export const makeTeam = Effect.fnUntraced(function*(...names: ReadonlyArray<string>) {
  const machine = makeMachine("/work", "/work/api", "/work/web")
  const coordinator = yield* machine.open("coordinator-id", "/work")
  yield* coordinator.command("start")
  const workers = yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      const worker = yield* machine.open(`${name.toLowerCase()}-id`, "/work/api")
      yield* settle
      const { port } = yield* portOf(worker)
      yield* coordinator.tool("intercom_configure_worker", {
        sessionId: `${name.toLowerCase()}-id`,
        port,
        projectDirectory: "api",
        name,
        description: `${name} does things.`
      })
      yield* coordinator.tool("intercom_reload_worker", { to: name })
      return worker
    }))
  return { machine, coordinator, workers }
})

type Opened = Effect.Effect.Success<ReturnType<ReturnType<typeof makeMachine>["open"]>>

/** The port that a session is bound to. */
export const portOf = (session: Opened) => Effect.map(Effect.flatten(session.membership.port.get), (port) => ({ port }))
