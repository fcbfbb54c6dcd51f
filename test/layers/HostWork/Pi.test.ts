import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as WorkWitness from "../../../src/layers/HostSession/WorkWitness.ts"
import * as PiWork from "../../../src/layers/HostWork/Pi.ts"
import { HostSession } from "../../../src/services/HostSession.ts"
import { HostWork } from "../../../src/services/HostWork.ts"
import { makeHost } from "../../support/HostSimulated.ts"

describe("HostWork over Pi's session", () => {
  it.effect("the latest result of a call decides, and only a successful one counts", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const work = yield* HostWork
      assert.isFalse(yield* work.succeeded("one"))
      host.results = [{ toolCallId: "one", isError: false }, { toolCallId: "two", isError: true }]
      assert.isTrue(yield* work.succeeded("one"))
      assert.isFalse(yield* work.succeeded("two"))
      assert.isFalse(yield* work.succeeded("on"))
      // Some models give the same id again.
      host.results = [...host.results, { toolCallId: "one", isError: true }]
      assert.isFalse(yield* work.succeeded("one"))
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("the file is what the host says; one that keeps none has none", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const work = yield* HostWork
      assert.deepStrictEqual(yield* work.file, Option.some("/saved/project/worker.jsonl"))
      host.file = undefined
      assert.deepStrictEqual(yield* work.file, Option.none())
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("busy: a run, a compaction that the host calls idle, a dialog, a text that is being typed", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const { busy } = yield* HostWork
      assert.isFalse(yield* busy)
      host.idle = false
      assert.isTrue(yield* busy)
      host.idle = true
      host.work.see({ type: "compaction_start", manual: false })
      assert.isTrue(yield* busy)
      host.work.see({ type: "compaction_end" })
      host.work.see({ type: "dialog_start" })
      assert.isTrue(yield* busy)
      host.work.see({ type: "dialog_end" })
      assert.isFalse(yield* busy)
      host.draft = "wait, one more thing"
      assert.isTrue(yield* busy)
      host.draft = "\n "
      assert.isFalse(yield* busy)
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a replaced session is busy, keeps no file and holds no result", () => {
    const stale = (): never => {
      throw new Error("This extension ctx is stale after session replacement or reload.")
    }
    const session = {
      isIdle: stale,
      ui: { getEditorText: stale },
      sessionManager: { getSessionFile: stale, getBranch: stale }
    }
    return Effect.gen(function*() {
      const work = yield* HostWork
      assert.isTrue(yield* work.busy)
      assert.deepStrictEqual(yield* work.file, Option.none())
      assert.isFalse(yield* work.succeeded("one"))
      assert.strictEqual(yield* work.epoch, 0)
    }).pipe(Effect.provide(PiWork.layer(session, WorkWitness.make())))
  })

  it.effect("tells moments after the state has changed, to each subscriber until its scope closes", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const work = yield* HostWork
      host.work.see({ type: "user_bash" })
      const scope = yield* Scope.make()
      const moments = yield* Scope.extend(work.moments, scope)
      host.work.see({ type: "user_bash" })
      host.work.see({ type: "settled", restarted: false })
      host.work.see({ type: "compaction_end" })
      host.work.see({ type: "settled", restarted: true })
      assert.deepStrictEqual(Chunk.toArray(yield* Queue.takeAll(moments)), ["epoch", "settled", "epoch", "settled"])
      for (let count = 0; count < 100; count++) host.work.see({ type: "user_bash" })
      host.work.see({ type: "settled", restarted: false })
      const kept = Chunk.toArray(yield* Queue.takeAll(moments))
      assert.deepStrictEqual([kept.length, kept.at(-1)], [101, "settled"])
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Queue.isShutdown(moments))
      host.work.see({ type: "user_bash" })
    }).pipe(Effect.provide(host.layer))
  })
})

describe("what is a delivery of the job", () => {
  /** Hands a text over, and lets the idle host start its run with it. */
  const run = (host: ReturnType<typeof makeHost>, text: string, ofJob: boolean, source = "extension") =>
    Effect.gen(function*() {
      if (source === "extension") yield* Effect.flatMap(HostSession, (session) => session.deliver(text, { ofJob }))
      host.work.input({ source, text: `${text}, as another extension words it` })
      host.work.beforeAgentStart(text)
      host.work.see({ type: "agent_start" })
      host.work.userMessage(text)
      host.work.see({ type: "settled", restarted: false })
      return yield* Effect.flatMap(HostWork, (work) => work.epoch)
    })

  it.effect("its run begins no epoch; once the model has it, the same words are somebody else's", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      assert.strictEqual(yield* run(host, "report", true), 0)
      assert.isAbove(yield* run(host, "report", false), 0)
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("one that the host moved into the editor is the person's when they send it", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const session = yield* HostSession
      yield* session.deliver("report", { ofJob: true })
      host.work.input({ source: "extension", text: "report" })
      assert.isAbove(yield* run(host, "report", false, "interactive"), 0)
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("a run without a user's text is not the job's, although a delivery is on its way", () => {
    const host = makeHost("worker", "/project")
    return Effect.gen(function*() {
      const session = yield* HostSession
      yield* session.deliver("report", { ofJob: true })
      host.work.beforeAgentStart(undefined)
      host.work.see({ type: "agent_start" })
      assert.strictEqual(yield* Effect.flatMap(HostWork, (work) => work.epoch), 1)
    }).pipe(Effect.provide(host.layer))
  })

  it("two deliveries of the same words are the job's both, and a third such text is not", () => {
    const witness = WorkWitness.make()
    for (const _ of [1, 2]) witness.markOfJob("report again")
    const epochs = [1, 2, 3].map(() => {
      witness.userMessage("report again")
      return witness.state().epoch
    })
    assert.deepStrictEqual(epochs, [0, 0, 1])
  })

  it("of deliveries that never arrive the newest 16 are known", () => {
    const witness = WorkWitness.make()
    for (let count = 0; count < 17; count++) witness.markOfJob(`<${count}>`)
    const counts = (text: string) => {
      const before = witness.state().epoch
      witness.input({ source: "extension", text })
      return witness.state().epoch - before
    }
    assert.deepStrictEqual([counts("<0>"), counts("<1>"), counts("<16>")], [1, 0, 0])
  })
})
