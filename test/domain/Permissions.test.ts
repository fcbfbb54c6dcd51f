import { assert, describe, it } from "@effect/vitest"
import type { Kind } from "../../src/domain/Envelope.ts"
import { mayCall, mayReceive, wireRules } from "../../src/domain/Permissions.ts"
import type { Role } from "../../src/domain/Role.ts"
import { toolNames } from "../../src/domain/ToolCatalogue.ts"

const roles: ReadonlyArray<Role> = ["solo", "coordinator", "worker", "unloaded", "anonymous"]
const coordinator = { coordinator: true, fenced: false }
const worker = { coordinator: false, fenced: false }
const takes = (kind: Kind, role: Role, sender: typeof worker | undefined, fenced = false) =>
  mayReceive(kind, { role, fenced }, sender) === undefined

describe("Permissions", () => {
  it("lets only configured and loaded sessions send (spec 4)", () => {
    assert.deepStrictEqual(roles.map((role) => mayCall("intercom_send", role)?.reason), [
      "no_team",
      undefined,
      undefined,
      "unloaded",
      "anonymous"
    ])
  })

  it("says in one sentence why, for every tool and role that may not", () => {
    for (const name of toolNames) {
      for (const role of roles) {
        const refusal = mayCall(name, role)
        if (refusal !== undefined) {
          assert.match(refusal.message, /[a-z].*(nothing was done|not configured)/, `${name} ${role}`)
        }
      }
    }
  })

  it("takes a message from the configured, by the coordinator or a loaded worker (spec 2.3)", () => {
    assert.isTrue(takes("message", "worker", worker))
    assert.isTrue(takes("message", "worker", coordinator))
    assert.isTrue(takes("message", "coordinator", worker))
    assert.isFalse(takes("message", "worker", undefined))
    for (const role of ["solo", "unloaded", "anonymous"] as const) assert.isFalse(takes("message", role, worker))
  })

  it("takes orders only from the current coordinator, and never at the coordinator", () => {
    for (
      const kind of [
        "request_status",
        "reload",
        "stop",
        "close",
        "close_prepare",
        "close_request",
        "close_commit"
      ] as const
    ) {
      assert.isTrue(takes(kind, "worker", coordinator), kind)
      assert.isTrue(takes(kind, "anonymous", coordinator), kind)
      assert.isFalse(takes(kind, "worker", worker), kind)
      assert.isFalse(takes(kind, "worker", undefined), kind)
      assert.isFalse(takes(kind, "coordinator", coordinator), kind)
    }
  })

  it("takes registrations and statuses from anybody but the coordinator, at the coordinator only", () => {
    for (const kind of ["registration", "status"] as const) {
      assert.isTrue(takes(kind, "coordinator", undefined), kind)
      assert.isTrue(takes(kind, "coordinator", worker), kind)
      assert.isFalse(takes(kind, "coordinator", coordinator), kind)
      assert.isFalse(takes(kind, "worker", undefined), kind)
    }
  })

  it("takes reports and the worker's half of a close from configured workers only", () => {
    for (const kind of ["report", "close_identity", "handoff_report", "close_ready"] as const) {
      assert.isTrue(takes(kind, "coordinator", worker), kind)
      assert.isFalse(takes(kind, "coordinator", undefined), kind)
      assert.isFalse(takes(kind, "worker", worker), kind)
    }
  })

  it("holds the close fence at the receiver, for either side", () => {
    const fenced = { coordinator: false, fenced: true }
    assert.isFalse(takes("message", "worker", worker, true))
    assert.isFalse(takes("message", "worker", fenced))
    assert.isFalse(takes("reload", "worker", coordinator, true))
    assert.isFalse(takes("report", "coordinator", fenced))
    assert.isTrue(takes("handoff_report", "coordinator", fenced))
    assert.isTrue(takes("status", "coordinator", fenced))
  })

  it("takes nothing in a session that has no team", () => {
    for (const rule of Object.values(wireRules)) assert.isFalse(rule.by.has("solo"))
  })
})
