import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { during, makeTeam, settle } from "../../support/TeamSteps.ts"

/** A team whose close of Ada has failed, since nothing is known of processes here, and could not be written. */
const unsaved = Effect.gen(function*() {
  const team = yield* makeTeam("Ada")
  const { coordinator, machine } = team
  machine.terminals.closing.can = true
  yield* coordinator.tool("intercom_close_worker", { to: "Ada", timeoutSeconds: 30 })
  machine.world.failing.now = true
  yield* settle
  const job = () => JSON.parse(machine.world.files.get("/work") ?? "").agents[1].closeJob
  const [ada = coordinator] = team.workers
  const notices = () => coordinator.host.texts.filter((text) => text.startsWith("[Intercom close notice"))
  return { ...team, ada, job, notices }
})

describe("a final state that cannot be written (spec 6.2)", () => {
  it.scoped("keeps the fence here, also when the file fences no more; asking again tries once more, then it is told", () =>
    Effect.gen(function*() {
      const { ada, coordinator, job, machine, notices } = yield* unsaved
      assert.strictEqual(job().state, "requested")
      yield* TestClock.adjust("60 seconds")
      const refused = yield* Effect.flip(during(ada.tool("intercom_send", { to: "Coordinator", message: "x" })))
      assert.include(refused.message, "the sender is being closed")
      const again = yield* Effect.flip(coordinator.tool("intercom_close_worker", { to: "Ada" }))
      assert.include(again.message, "the disk is full")
      const send = yield* Effect.flip(coordinator.tool("intercom_send", { to: "Ada", message: "x" }))
      assert.include(send.message, "the disk is full")
      assert.strictEqual(job().state, "requested")
      assert.lengthOf(notices(), 0)

      machine.world.failing.now = false
      yield* during(coordinator.tool("intercom_send", { to: "Ada", message: "x" }))
      assert.deepInclude(job(), { state: "failed", reason: "identity_failed" })
      assert.lengthOf(notices(), 1)
      yield* during(ada.tool("intercom_send", { to: "Coordinator", message: "x" }))
    }))
})

describe("a job that nobody runs (spec 6.2, orphans)", () => {
  it.scoped("is settled and told once", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      const file = JSON.parse(machine.world.files.get("/work") ?? "")
      const at = "1970-01-01T00:00:00.000Z"
      file.agents[1].closeJob = { jobId: "orphan", state: "requested", createdAt: at, updatedAt: at, deadlineAt: at }
      machine.world.files.set("/work", JSON.stringify(file))
      yield* during(coordinator.tool("intercom_send", { to: "Ada", message: "x" }))
      const notices = coordinator.host.texts.filter((text) => text.startsWith("[Intercom close notice"))
      assert.lengthOf(notices, 1)
      assert.include(notices[0], "state: interrupted")
      assert.isNotEmpty(ada.host.texts.filter((text) => text.includes("x")))
    }))
})
