import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { recordLine } from "../../src/domain/Observation.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import { during, makeTeam, settle } from "../support/TeamSteps.ts"

describe("what a team's sessions record (spec 7.1)", () => {
  it.scoped("is who spoke to whom and when, and nothing of what about", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada, ben] } = yield* makeTeam("Ada", "Ben")
      if (ada === undefined || ben === undefined) return assert.fail("two workers")
      yield* ada.activity.see({ type: "tool_start", id: "1", tool: "read" })
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "The payroll lies in /vault/payroll.csv" })
      yield* ada.tool("intercom_send", { to: "Ben", message: "The payroll is wrong" })
      yield* during(ada.tool("intercom_report_work", { status: "blocked", summary: "The payroll is locked" }))
      yield* during(ada.tool("intercom_report_status"))
      yield* coordinator.tool("intercom_create_worker", { projectDirectory: "api" })
      yield* ben.close
      yield* Effect.flip(coordinator.tool("intercom_send", { to: "Ben", message: "payroll" }))
      yield* settle

      const lines = (session: typeof coordinator, id: string) =>
        session.observations.recorded.map((observation) =>
          Option.getOrThrow(recordLine(
            { timestamp: "2026-01-01T00:00:00.000Z", writerId: "w", sessionId: SessionId.make(id) },
            observation
          ))
        )
      const all = [...lines(coordinator, "coordinator-id"), ...lines(ada, "ada-id"), ...lines(ben, "ben-id")].join("")
      for (const word of ["payroll", "vault", "locked", "does things", "Coordinates", "/work", "api", "%1", "@1"]) {
        assert.notInclude(all, word)
      }
      const events = coordinator.observations.recorded.map(({ event }) => event)
      assert.includeMembers(events, [
        "runtime.starting",
        "runtime.ready",
        "config.changed",
        "config.reloaded",
        "registration.received",
        "status.received",
        "transport.send",
        "transport.receipt",
        "transport.received",
        "transport.failed",
        "host.submission",
        "launch.result"
      ])
      assert.include(all, "\"outcome\":\"Undelivered\"")
      assert.strictEqual(ben.observations.recorded.at(-1)?.event, "runtime.closed")
      assert.strictEqual(machine.terminals.launches.length, 1)
    }))

  it.scoped("is what intercom_worker_status shows of each", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada, ben] } = yield* makeTeam("Ada", "Ben")
      if (ada === undefined || ben === undefined) return assert.fail("two workers")
      yield* ada.activity.see({ type: "tool_start", id: "1", tool: "read" })
      yield* ben.activity.see({ type: "agent_start" })
      yield* ben.close
      yield* TestClock.adjust("30 seconds")
      const rows = () =>
        Effect.map(coordinator.tool("intercom_worker_status"), (text) =>
          JSON.parse(text).workers.map((row: Record<string, unknown>) => [
            row["name"],
            row["observedStatus"],
            row["lastActivity"],
            row["evidence"],
            row["observationAgeSeconds"]
          ]))
      const [first, second] = yield* rows()
      assert.deepStrictEqual(first.slice(0, 4), ["Ada", "working", "Reading files", "recent"])
      assert.deepStrictEqual(second.slice(0, 4), ["Ben", "closed", null, "recent"])
      assert.isAtMost(first[4], 30)
      yield* TestClock.adjust("31 seconds")
      assert.deepStrictEqual((yield* rows())[0].slice(0, 4), ["Ada", "working", "Reading files", "stale"])
    }))
})
