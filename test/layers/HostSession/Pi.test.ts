import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import * as InputWitness from "../../../src/layers/HostSession/InputWitness.ts"
import * as PiSession from "../../../src/layers/HostSession/Pi.ts"
import * as WorkWitness from "../../../src/layers/HostSession/WorkWitness.ts"
import { HostSession } from "../../../src/services/HostSession.ts"

/** A host that behaves as was measured on 1.6.0 and 0.84.4, one step at a time. */
const makeHost = () => {
  const witness = InputWitness.make()
  const state = {
    stale: false,
    idle: true,
    drops: false,
    late: false,
    sent: new Array<string>(),
    status: new Array<readonly [string, string | undefined]>(),
    asked: new Array<ReadonlyArray<string>>(),
    answer: Option.some("Yes")
  }
  const check = () => {
    if (state.stale) throw new Error("This extension ctx is stale after session replacement or reload.")
  }
  const arrive = (text: string) =>
    witness.input({ text, source: "extension", ...(state.idle ? {} : { streamingBehavior: "steer" as const }) })
  const layer = PiSession.layer(
    {
      sendUserMessage: (content) => {
        check()
        const text = String(content)
        state.sent.push(text)
        if (!state.drops && !state.late) arrive(text)
      },
      setSessionName: check
    },
    {
      cwd: "/project",
      isIdle: () => {
        check()
        return state.idle
      },
      sessionManager: {
        getSessionId: () => {
          check()
          return "session-1"
        }
      },
      ui: {
        notify: check,
        setStatus: (key, text) => {
          check()
          state.status.push([key, text])
        },
        select: (title, options) => {
          check()
          state.asked.push([title, ...options])
          return Promise.resolve(Option.getOrUndefined(state.answer))
        }
      }
    },
    witness,
    WorkWitness.make(),
    (text) => text
  )
  const begin = (text: string) => {
    witness.beforeAgentStart(text)
    witness.agentStart()
    state.idle = false
  }
  return { witness, state, arrive, begin, layer }
}

/** Hands one text over as a receiver does: what waits is interruptible, what acts is not. */
const handOver = (text: string) =>
  Effect.flatMap(HostSession, (session) => session.whenReady(Effect.uninterruptible(session.deliver(text))))

describe("HostSession over Pi", () => {
  it.effect("a busy host has a text as soon as its input event came", () => {
    const host = makeHost()
    host.state.idle = false
    return Effect.gen(function*() {
      assert.isTrue(yield* handOver("one"))
      assert.isTrue(yield* handOver("two"))
      assert.deepStrictEqual(host.state.sent, ["one", "two"])
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("an idle host has a text when a run starts with it, and gets the next one only in that run", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      const first = yield* Effect.fork(handOver("one"))
      const second = yield* Effect.fork(handOver("two"))
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(host.state.sent, ["one"])
      host.witness.beforeAgentStart("prefix of another extension: one")
      assert.isTrue(yield* Fiber.join(first))
      yield* TestClock.adjust("20 millis")
      assert.deepStrictEqual(host.state.sent, ["one"], "before_agent_start handlers may still run")
      host.begin("one")
      yield* TestClock.adjust("5 millis")
      assert.isTrue(yield* Fiber.join(second))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("waits for the run of a text that the person typed", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      host.witness.input({ source: "interactive", text: "typed" })
      const ours = yield* Effect.fork(handOver("ours"))
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(host.state.sent, [])
      host.begin("typed")
      yield* TestClock.adjust("5 millis")
      assert.isTrue(yield* Fiber.join(ours))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a start that never comes is not risked a text for, and keeps nobody waiting twice", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      host.witness.input({ source: "interactive", text: "another extension handles this" })
      const ours = yield* Effect.fork(Effect.flip(handOver("ours")))
      yield* TestClock.adjust("1500 millis")
      assert.strictEqual((yield* Fiber.join(ours)).why, "not_ready")
      assert.deepStrictEqual(host.state.sent, [])
      const next = yield* Effect.fork(handOver("next"))
      yield* TestClock.adjust("1 millis")
      host.begin("next")
      assert.isTrue(yield* Fiber.join(next))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("waiting for the host can be interrupted, and then nothing is sent", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      host.witness.input({ source: "interactive", text: "typed" })
      const ours = yield* Effect.fork(handOver("ours"))
      yield* TestClock.adjust("100 millis")
      yield* Fiber.interrupt(ours)
      host.begin("typed")
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(host.state.sent, [])
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a text that was dropped can be sent again, also inside a longer one", () => {
    const host = makeHost()
    host.state.idle = false
    return Effect.gen(function*() {
      host.state.drops = true
      const dropped = yield* Effect.fork(handOver("same"))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* Fiber.join(dropped))
      host.state.drops = false
      assert.isTrue(yield* handOver("before\nsame\nafter"))
      assert.isTrue(yield* handOver("same"))
      assert.isTrue(yield* handOver("same"))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a dropped text is not delivered, and is swallowed should it come later", () => {
    const host = makeHost()
    host.state.drops = true
    return Effect.gen(function*() {
      const dropped = yield* Effect.fork(handOver("deferred"))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* Fiber.join(dropped))
      assert.deepStrictEqual(host.arrive("deferred"), { action: "handled" })
      assert.deepStrictEqual(host.arrive("deferred"), { action: "continue" }, "only once")
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a text that the host has looked at counts as handed over, even when no run starts with it", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      const ours = yield* Effect.fork(handOver("no model is configured"))
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* Fiber.join(ours))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a text that comes late, after slow handlers of others, is delivered", () => {
    const host = makeHost()
    host.state.late = true
    return Effect.gen(function*() {
      const late = yield* Effect.fork(handOver("late"))
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(host.arrive("late"), { action: "continue" })
      host.begin("late")
      assert.isTrue(yield* Fiber.join(late))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("an interruption between sending and acknowledgement does not lose the answer's truth", () => {
    const host = makeHost()
    host.state.late = true
    return Effect.gen(function*() {
      const ours = yield* Effect.fork(handOver("ours"))
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(host.state.sent, ["ours"])
      const interruption = yield* Effect.fork(Fiber.interrupt(ours))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(interruption)
      assert.deepStrictEqual(host.arrive("ours"), { action: "handled" })
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("keeps one line in sight, until there is none", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      const session = yield* HostSession
      yield* session.status("one")
      yield* session.status(undefined)
      assert.deepStrictEqual(host.state.status, [["intercom", "one"], ["intercom", undefined]])
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("asks with the answer that does nothing first, and takes only the other one for a yes", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      const session = yield* HostSession
      const ask = (chosen: Option.Option<string>) =>
        Effect.suspend(() => {
          host.state.answer = chosen
          return session.confirm("Sure?", "It goes.", { no: "No, keep it", yes: "Yes, let it go" })
        })
      assert.isFalse(yield* ask(Option.some("No, keep it")))
      assert.isFalse(yield* ask(Option.none()))
      assert.isTrue(yield* ask(Option.some("Yes, let it go")))
      assert.deepStrictEqual(host.state.asked[0], ["Sure?\nIt goes.", "No, keep it", "Yes, let it go"])
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("is safe after the session was replaced", () => {
    const host = makeHost()
    return Effect.gen(function*() {
      const session = yield* HostSession
      assert.deepStrictEqual(yield* session.currentId, Option.some("session-1"))
      assert.isTrue(yield* session.confirm("title", "text", { no: "No", yes: "Yes" }))
      host.state.stale = true
      assert.deepStrictEqual(yield* session.currentId, Option.none())
      assert.isFalse(yield* session.idle)
      assert.isFalse(yield* handOver("text"))
      assert.isFalse(yield* session.confirm("title", "text", { no: "No", yes: "Yes" }))
      yield* session.setName("name")
      yield* session.notify("text", "info")
      yield* session.status("text")
      assert.deepStrictEqual(host.state.status, [])
      assert.strictEqual(session.directory, "/project")
    }).pipe(Effect.provide(host.layer))
  })
})
