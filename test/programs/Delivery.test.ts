import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { makeTeam, settle } from "../support/TeamSteps.ts"

const send = (
  team: Effect.Effect.Success<ReturnType<typeof makeTeam>>,
  message: string
) => team.coordinator.tool("intercom_send", { to: "Ada", message })

const worker = (team: Effect.Effect.Success<ReturnType<typeof makeTeam>>) => {
  const [ada] = team.workers
  if (ada === undefined) throw new Error("the team has a worker")
  return ada
}

describe("delivery through a manual compaction (spec 3.4)", () => {
  it.scoped("texts wait, are accepted, and go on in order once it has ended", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      yield* send(team, "one")
      yield* send(team, "two")
      assert.deepStrictEqual(ada.host.texts, [])
      yield* ada.delivery.release
      yield* send(team, "three")
      yield* settle
      assert.deepStrictEqual(ada.host.texts.map((text) => text.split("\n")[1]), ["one", "two", "three"])
    }))

  it.scoped("a held text that is no longer to be handed over is dropped without a word, the others come", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      let wanted = true
      const from = { name: "Coordinator", sessionId: "coordinator-id" }
      const tell = (text: string, still?: Effect.Effect<boolean>) =>
        ada.delivery.deliver("close request", from, text, (act) => act, still)
      yield* tell("over by then", Effect.sync(() => wanted))
      yield* tell("still on", Effect.succeed(true))
      yield* tell("whatever happens")
      wanted = false
      yield* ada.delivery.release
      yield* settle
      assert.deepStrictEqual(ada.host.texts.map((text) => text.split("\n")[1]), ["still on", "whatever happens"])
      assert.isFalse(ada.host.notices.some((notice) => notice.includes("lost")))
    }))

  it.scoped("at most 64 wait; the next is refused as not delivered, and the 64 arrive", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      yield* Effect.forEach(Array.from({ length: 64 }, (_, index) => index), (index) => send(team, String(index)))
      const over = yield* Effect.flip(send(team, "over"))
      assert.isTrue(over._tag === "Rejected" && over.status === 503)
      yield* ada.delivery.release
      yield* settle
      assert.strictEqual(ada.host.texts.length, 64)
      assert.isFalse(ada.host.texts.some((text) => text.endsWith("over")))
    }))

  it.scoped("an end without a beginning changes nothing; a new compaction is not ended by the old one's end", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.release
      yield* settle
      yield* send(team, "free")
      assert.strictEqual(ada.host.texts.length, 1)
      yield* ada.delivery.hold
      yield* ada.delivery.release
      yield* ada.delivery.hold
      yield* settle
      yield* send(team, "held")
      assert.strictEqual(ada.host.texts.length, 1)
      yield* ada.delivery.release
      yield* settle
      assert.strictEqual(ada.host.texts.length, 2)
    }))

  it.scoped("a held text that the host then drops is named to the person, never silently lost", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      yield* send(team, "unlucky")
      ada.host.takes = false
      yield* ada.delivery.release
      yield* settle
      assert.match(ada.host.notices.join(), /did not take a held message.*\[Intercom message from Coordinator/)
      assert.deepStrictEqual(ada.host.texts, [])
    }))
})

describe("epochs (spec 6.2)", () => {
  it.scoped("only a close request is of the worker's job, also one that had to wait", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const sender = { name: "Coordinator", sessionId: "coordinator" }
      yield* ada.delivery.deliver("close request", sender, "report", (act) => act)
      yield* ada.delivery.hold
      yield* ada.delivery.deliver("close request", sender, "report again", (act) => act)
      yield* ada.delivery.deliver("message", sender, "hello", (act) => act)
      yield* ada.delivery.release
      yield* settle
      const begun = ada.host.texts.map((text) => {
        const before = ada.host.work.state().epoch
        ada.host.work.input({ source: "extension", text })
        return ada.host.work.state().epoch - before
      })
      assert.deepStrictEqual(begun, [0, 0, 1])
    }))
})

describe("the act of handing over (spec 3.1, 2.1)", () => {
  it.scoped("a text that waited for Pi while a compaction began is held, not dropped", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const ready = yield* Deferred.make<void>()
      ada.host.ready = Deferred.await(ready)
      const sending = yield* Effect.fork(send(team, "early"))
      yield* TestClock.adjust("10 millis")
      yield* ada.delivery.hold
      yield* Deferred.succeed(ready, undefined)
      yield* Fiber.join(sending)
      assert.deepStrictEqual(ada.host.texts, [])
      yield* ada.delivery.release
      yield* settle
      assert.strictEqual(ada.host.texts.length, 1)
    }))

  it.scoped("a text that waited for Pi while the session closed is not handed over", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const ready = yield* Deferred.make<void>()
      ada.host.ready = Deferred.await(ready)
      const sending = yield* Effect.fork(Effect.flip(send(team, "late")))
      yield* TestClock.adjust("10 millis")
      ada.fence.open = false
      yield* Deferred.succeed(ready, undefined)
      const failed = yield* Fiber.join(sending)
      assert.isTrue(failed._tag === "Rejected" && failed.status === 503)
      assert.deepStrictEqual(ada.host.texts, [])
    }))

  it.scoped("what only waits for Pi after 4 s is answered 503, and never handed over", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const ready = yield* Deferred.make<void>()
      ada.host.ready = Deferred.await(ready)
      const sending = yield* Effect.fork(Effect.flip(send(team, "slow")))
      yield* TestClock.adjust("4 seconds")
      const failed = yield* Fiber.join(sending)
      assert.isTrue(failed._tag === "Rejected" && failed.status === 503)
      yield* Deferred.succeed(ready, undefined)
      yield* settle
      assert.deepStrictEqual(ada.host.texts, [])
    }))

  it.scoped("a held text stays held when the person compacts again before Pi could take it", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      yield* send(team, "one")
      yield* send(team, "two")
      const ready = yield* Deferred.make<void>()
      ada.host.ready = Deferred.await(ready)
      yield* ada.delivery.release
      yield* TestClock.adjust("10 millis")
      yield* ada.delivery.hold
      yield* Deferred.succeed(ready, undefined)
      yield* settle
      assert.deepStrictEqual(ada.host.texts, [])
      yield* ada.delivery.release
      yield* settle
      assert.deepStrictEqual(ada.host.texts.map((text) => text.split("\n")[1]), ["one", "two"])
      assert.notInclude(ada.host.notices.join(), "lost")
    }))
})

describe("two ends of compactions", () => {
  it.scoped("hand over what was held once", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      yield* ada.delivery.hold
      yield* send(team, "one")
      yield* send(team, "two")
      const ready = yield* Deferred.make<void>()
      ada.host.ready = Deferred.await(ready)
      yield* ada.delivery.release
      yield* TestClock.adjust("10 millis")
      yield* ada.delivery.release
      yield* TestClock.adjust("10 millis")
      yield* Deferred.succeed(ready, undefined)
      yield* settle
      assert.deepStrictEqual(ada.host.texts.map((text) => text.split("\n")[1]), ["one", "two"])
    }))
})

describe("bursts (spec 3.3)", () => {
  it.scoped("a burst without end is shown after at most 2 s", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const before = team.coordinator.host.texts.length
      const fibers = []
      for (let i = 0; i < 15; i++) {
        fibers.push(yield* Effect.fork(ada.tool("intercom_report_status")))
        yield* TestClock.adjust("200 millis")
      }
      assert.strictEqual(team.coordinator.host.texts.length, before + 1)
      yield* settle
      yield* Fiber.joinAll(fibers)
      assert.strictEqual(team.coordinator.host.texts.length, before + 2)
      const shown = team.coordinator.host.texts.slice(before).join("\n").match(/^\[Intercom status from Ada/gm)
      assert.strictEqual(shown?.length, 15)
    }))

  it.scoped("closing the session ends a burst that waits, and nothing is delivered afterwards", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      const ada = worker(team)
      const before = team.coordinator.host.texts.length
      const reporting = yield* Effect.fork(Effect.flip(ada.tool("intercom_report_status")))
      yield* TestClock.adjust("10 millis")
      yield* team.coordinator.close
      yield* settle
      assert.strictEqual((yield* Fiber.join(reporting))._tag, "OutcomeUnknown")
      assert.strictEqual(team.coordinator.host.texts.length, before)
    }))
})
