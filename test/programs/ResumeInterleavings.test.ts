import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Scope from "effect/Scope"
import type { makeMachine } from "../support/SimulatedTeam.ts"
import { during, makeTeam, settle } from "../support/TeamSteps.ts"

type Session = Effect.Effect.Success<ReturnType<ReturnType<typeof makeMachine>["open"]>>

/** A pane that a resume opened: Pi may wait in it for an answer, run the session, or have ended with it. */
interface Opened {
  readonly pane: string
  state: "waiting" | "running" | "gone"
  session?: Session
}

const steps = [
  "resume",
  "resume twice",
  "start",
  "quit",
  "die",
  "kill",
  "mute",
  "lose statuses",
  "pass statuses",
  "crash",
  "resolve",
  "wait"
] as const

const often = ["resume", "resume", "resume", "wait", "wait", "wait", "die", "start", "quit"] as const

/** Plays one schedule; answers how many Pis were launched. Fails when one was launched while another one was there. */
const play = (schedule: ReadonlyArray<(typeof steps)[number]>) =>
  Effect.gen(function*() {
    const { coordinator: first, machine, workers: [ada = first] } = yield* makeTeam("Ada")
    machine.pi.saved.add("ada-id")
    yield* ada.close
    let coordinator = first
    const opened: Array<Opened> = []
    let second = false
    machine.terminals.during.do = Effect.suspend(() => {
      if (opened.some(({ state }) => state !== "gone")) second = true
      opened.push({ pane: `%${machine.terminals.launches.length}`, state: "waiting" })
      // Long enough for whatever comes next to happen before the launch is answered.
      return Effect.sleep("1 second")
    })
    const resume = Effect.suspend(() =>
      coordinator.tool("intercom_resume_worker", { to: "Ada", confirmClosed: true }).pipe(
        Effect.exit,
        Effect.forkScoped
      )
    )
    const on = (state: Opened["state"], act: (one: Opened) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
      Effect.suspend(() => {
        const one = opened.find((pane) => pane.state === state)
        return one === undefined ? Effect.void : act(one)
      })
    const end = (one: Opened) =>
      Effect.sync(() => {
        one.state = "gone"
        machine.terminals.close(one.pane)
      })
    const acts: Readonly<Record<(typeof steps)[number], Effect.Effect<unknown, unknown, Scope.Scope>>> = {
      resume: resume,
      "resume twice": Effect.zipRight(resume, resume),
      start: on("waiting", (one) =>
        Effect.gen(function*() {
          one.state = "running"
          one.session = yield* during(machine.open("ada-id", "/work/api"))
        })),
      quit: on("running", (one) => Effect.zipRight(one.session?.close ?? Effect.void, end(one))),
      die: on("waiting", end),
      kill: on("running", (one) =>
        Effect.zipRight(one.session === undefined ? Effect.void : machine.kill(one.session), end(one))),
      mute: on("running", (one) =>
        one.session?.stop ?? Effect.void),
      "lose statuses": Effect.sync(() =>
        machine.network.script(({ kind }) => kind === "status" ? { _tag: "Drop" } : undefined)
      ),
      "pass statuses": Effect.sync(() => machine.network.script(() => undefined)),
      crash: Effect.gen(function*() {
        yield* machine.kill(coordinator)
        coordinator = yield* during(machine.open("coordinator-id", "/work"))
      }),
      resolve: Effect.suspend(() => {
        // The person looks, and says what is so.
        coordinator.host.answer = () => Effect.sync(() => opened.every(({ state }) => state === "gone"))
        return during(Effect.exit(coordinator.command("resolve Ada")))
      }),
      wait: settle
    }
    for (const step of schedule) yield* acts[step]
    yield* settle
    assert.isFalse(second, schedule.join(", "))
    return opened.length
  }).pipe(Effect.scoped)

describe("resuming, interleaved", () => {
  it.effect("never launches a second Pi while one that was launched before is there: 40 schedules", () =>
    Effect.gen(function*() {
      const arbitrary = FastCheck.array(FastCheck.constantFrom(...often, ...steps), { minLength: 16, maxLength: 16 })
      const launched = yield* Effect.forEach(FastCheck.sample(arbitrary, { numRuns: 40, seed: 20_251_102 }), play)
      assert.isAbove(launched.filter((count) => count > 1).length, 10)
    }))
})
