import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { mayCall, toolRules } from "../../src/domain/Permissions.ts"
import { section } from "../../src/domain/Prompt.ts"
import type { Role } from "../../src/domain/Role.ts"
import { activeTools, toolArguments, toolNames, tools } from "../../src/domain/ToolCatalogue.ts"
import { parametersOf } from "../../src/domain/ToolJsonSchema.ts"

const roles: ReadonlyArray<Role> = ["solo", "coordinator", "worker", "unloaded", "anonymous"]
const usual = { canClose: true, reports: false }
const tokens = (text: string) => text.length / 4
const toolTokens = (role: Role, where = usual) =>
  activeTools(role, where).reduce(
    (sum, name) => sum + tokens(name + tools[name].description + JSON.stringify(parametersOf(name))),
    0
  )

describe("ToolCatalogue", () => {
  it("stays within the token budgets of spec 4", () => {
    assert.isAtMost(toolTokens("coordinator"), 1200)
    assert.isAtMost(toolTokens("worker", { canClose: true, reports: true }), 500)
    assert.isAtMost(toolTokens("solo"), 200)
  })

  it("gives each role its tools and no others", () => {
    assert.deepStrictEqual(activeTools("solo", usual), ["intercom_create_worker", "intercom_set_multiplexer"])
    assert.sameMembers([...activeTools("worker", usual)], [
      "intercom_send",
      "intercom_list",
      "intercom_worker_status",
      "intercom_report_work",
      "intercom_report_status"
    ])
    assert.deepStrictEqual(activeTools("anonymous", usual), ["intercom_report_status"])
    assert.deepStrictEqual(activeTools("unloaded", usual), ["intercom_report_status"])
    assert.sameMembers([...activeTools("coordinator", usual)], [
      "intercom_create_worker",
      "intercom_set_multiplexer",
      "intercom_configure_worker",
      "intercom_reload_worker",
      "intercom_send",
      "intercom_list",
      "intercom_worker_status",
      "intercom_request_status",
      "intercom_remove_worker",
      "intercom_close_worker",
      "intercom_resume_worker"
    ])
  })

  it("offers closing only where panes can be closed, and a handoff only while a close asks for it", () => {
    const names = (role: Role, canClose: boolean, reports: boolean) => activeTools(role, { canClose, reports })
    assert.notInclude(names("coordinator", false, true), "intercom_close_worker")
    for (const role of ["worker", "unloaded"] as const) {
      assert.include(names(role, false, true), "intercom_report_handoff")
    }
    assert.notInclude(names("coordinator", true, true), "intercom_report_handoff")
  })

  it("never activates a tool that could only refuse", () => {
    for (const role of roles) {
      for (const name of activeTools(role, usual)) assert.isUndefined(mayCall(name, role), `${name} ${role}`)
    }
  })

  it("fences exactly the tools that spec 4 names", () => {
    assert.sameMembers(toolNames.filter((name) => toolRules[name].fenced), [
      "intercom_send",
      "intercom_reload_worker",
      "intercom_resume_worker",
      "intercom_remove_worker",
      "intercom_configure_worker",
      "intercom_stop_worker",
      "intercom_report_work"
    ])
  })

  it("refuses unknown arguments, also where there are none", () => {
    for (const name of toolNames) {
      const decoded = Schema.decodeUnknownEither(Schema.make<unknown>(toolArguments[name].ast))({ surprise: 1 })
      assert.isTrue(Either.isLeft(decoded), name)
    }
  })
})

describe("ToolJsonSchema", () => {
  it("is a closed object schema with everything inlined and no generated words", () => {
    for (const name of toolNames) {
      const schema = parametersOf(name)
      assert.strictEqual(schema["type"], "object", name)
      assert.strictEqual(schema["additionalProperties"], false, name)
      assert.notMatch(JSON.stringify(schema), /\$ref|\$defs|"title"|allOf|"description":"[a-z]/, name)
    }
    assert.deepStrictEqual(parametersOf("intercom_list"), {
      type: "object",
      properties: {},
      required: [],
      additionalProperties: false
    })
  })

  it("keeps the bounds", () => {
    assert.deepStrictEqual(parametersOf("intercom_send"), {
      type: "object",
      required: ["to", "message"],
      properties: {
        to: { type: "string", minLength: 1, maxLength: 128 },
        message: { type: "string", minLength: 1, maxLength: 48_000 }
      },
      additionalProperties: false
    })
    assert.deepInclude(parametersOf("intercom_report_handoff")["properties"], {
      summary: { type: "string", minLength: 1, maxLength: 4000 }
    })
    assert.deepInclude(parametersOf("intercom_configure_worker")["properties"], {
      name: { type: "string", minLength: 1, maxLength: 128 },
      description: { type: "string", minLength: 1, maxLength: 4096 }
    })
  })
})

describe("Prompt", () => {
  it("stays within the budgets of spec 3.5", () => {
    assert.isAtMost(tokens(section("worker", undefined)), 200)
    assert.isAtMost(tokens(section("coordinator", undefined)), 300)
    for (const role of ["solo", "anonymous", "unloaded"] as const) assert.isAtMost(tokens(section(role, undefined)), 60)
  })

  it("names the session, its id and its responsibility", () => {
    const text = section("worker", { name: "Ada", sessionId: "s-1", responsibility: "Reviews parsers." })
    assert.include(text, "You are Ada (session s-1). Responsibility: Reviews parsers.")
  })
})
