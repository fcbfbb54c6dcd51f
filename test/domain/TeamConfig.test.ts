import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { readFileSync } from "node:fs"
import { Port } from "../../src/domain/Primitives.ts"
import { describe as describeInvalid } from "../../src/domain/Problems.ts"
import {
  agentByName,
  agentBySession,
  changeConfig,
  coordinatorOf,
  decodeConfig,
  encodeConfig,
  ensureChange,
  maxDepth,
  type TeamConfig
} from "../../src/domain/TeamConfig.ts"
import { legacyProblem } from "../support/LegacyValidator.ts"
import { configText, decoded } from "../support/TeamArbitrary.ts"

const fixture = readFileSync(new URL("../fixtures/team-0.6.1.json", import.meta.url), "utf8")

const problemOf = (text: string): string => {
  const result = decodeConfig(text)
  return Either.isLeft(result) ? describeInvalid(result.left) : "valid"
}

/** The fixture with the first occurrence of `from` replaced, which must be there. */
const edited = (from: string, to: string): string => {
  assert.include(fixture, from)
  return fixture.replace(from, () => to)
}

describe("TeamConfig", () => {
  it("the text is what JSON.stringify writes, however often its entries were written before", () => {
    FastCheck.assert(FastCheck.property(configText(), (text) => {
      const config = decoded(text)
      const whole = (one: TeamConfig) => `${JSON.stringify(one, null, 2)}\n`
      assert.strictEqual(encodeConfig(config), whole(config))
      const [first, ...others] = config.agents
      const changed = { ...config, agents: first === undefined ? [] : [...others, { ...first, port: Port.make(1) }] }
      assert.strictEqual(encodeConfig(changed), whole(changed))
    }))
  })

  it("reads a file of 0.6.1 and writes it back with every key", () => {
    const text = encodeConfig(decoded(fixture))
    assert.deepStrictEqual(JSON.parse(text), JSON.parse(fixture))
    assert.strictEqual(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`)
    assert.isUndefined(legacyProblem(text))
  })

  it("keeps everything through decode and encode, whatever the order of keys", () => {
    FastCheck.assert(FastCheck.property(configText(), (text) => {
      const once = encodeConfig(decoded(text))
      assert.deepStrictEqual(JSON.parse(once), JSON.parse(text))
      assert.strictEqual(encodeConfig(decoded(once)), once)
    }))
  })

  it("writes what 0.6.1 accepts, unless it says tmux", () => {
    FastCheck.assert(FastCheck.property(configText(), (text) => {
      const config = decoded(text)
      const problem = legacyProblem(encodeConfig(config))
      assert.strictEqual(problem, config.multiplexer === "tmux" ? "multiplexer is unknown" : undefined)
    }))
  })

  it("never throws, whatever the text", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.oneof(
        FastCheck.string(),
        FastCheck.json(),
        FastCheck.tuple(configText(), FastCheck.nat()).map(([text, at]) => text.slice(0, at % text.length))
      ),
      (text) => {
        assert.notStrictEqual(problemOf(text), "")
      }
    ))
  })

  const worker = "agents[1]"
  const broken: ReadonlyArray<readonly [string, string, string]> = [
    ["version", edited("\"version\": 1", "\"version\": 2"), "version: must be 1"],
    ["multiplexer", edited("\"herdr\"", "\"zellij\""), "multiplexer: must be \"herdr\", \"tmux\" or \"none\""],
    ["a missing field", edited("\"port\": 43120,", ""), `${worker}.port: is missing`],
    [
      "blank session id",
      edited("0199f2d0-6b11-7c0a-8f02-7a3d9c0e2b02", "  "),
      `${worker}.sessionId: must not be blank`
    ],
    ["NUL in session id", edited("0199f2d0-6b11", "\\u0000"), `${worker}.sessionId: must not contain NUL`],
    [
      "long session id",
      edited("0199f2d0-6b11", "x".repeat(256)),
      `${worker}.sessionId: must be at most 256 characters long`
    ],
    [
      "double session id",
      edited("0199f2d0-7c22-7d0b-8f02-7a3d9c0e2b03", "0199f2d0-6b11-7c0a-8f02-7a3d9c0e2b02"),
      "agents[2].sessionId: two agents have this session id"
    ],
    ["double name in another case", edited("\"Docs\"", "\"api 担当\""), "agents[2].name: two agents have this name"],
    ["blank at an end", edited("\"Docs\"", "\"Docs \""), "agents[2].name: must not begin or end with a blank"],
    [
      "control character",
      edited("\"Docs\"", "\"Do\\u0085cs\""),
      "agents[2].name: must not contain a control character"
    ],
    [
      "long name",
      edited("\"Docs\"", JSON.stringify("x".repeat(129))),
      "agents[2].name: must be at most 128 characters long"
    ],
    [
      "the coordinator's name",
      edited("\"Docs\"", "\"cOORDINATOR\""),
      "agents[2].name: no worker may have the coordinator's name"
    ],
    [
      "another coordinator's name",
      edited("\"Coordinator\"", "\"coordinator\""),
      "agents[0].name: the coordinator's name is exactly Coordinator"
    ],
    [
      "long description",
      edited("Coordinates the team.", "x".repeat(4097)),
      "agents[0].description: must be at most 4096 characters long"
    ],
    ["port 0", edited("43120", "0"), `${worker}.port: must be a number between 1 and 65535`],
    ["port 65536", edited("43120", "65536"), `${worker}.port: must be a number between 1 and 65535`],
    ["port 1.5", edited("43120", "1.5"), `${worker}.port: must be an integer`],
    [
      "parent directory",
      edited("services/api", "services/../../api"),
      `${worker}.projectDirectory: must be relative to the root, with / separators and without ".."`
    ],
    [
      "the coordinator elsewhere",
      edited("\"projectDirectory\": \".\"", "\"projectDirectory\": \"docs\""),
      "agents[0].projectDirectory: the coordinator's is ."
    ],
    [
      "dashboardPort of a worker",
      edited("\"labels\"", "\"dashboardPort\": 1, \"labels\""),
      `${worker}.dashboardPort: only the coordinator has one`
    ],
    [
      "handoff of the coordinator",
      edited(
        "\"colour\": \"blue\"",
        "\"handoff\": {\"version\": 1, \"jobId\": \"j\", \"summary\": \"s\", \"updatedAt\": \"2025-11-02T10:15:31Z\"}"
      ),
      "agents[0].handoff: only workers have one"
    ],
    [
      "unknown key in handoff",
      edited("\"summary\":", "\"extra\": 1, \"summary\":"),
      `${worker}.handoff: there is a key that does not belong here`
    ],
    [
      "long summary",
      edited("Done: routes.", "x".repeat(4001)),
      `${worker}.handoff.summary: must be at most 4000 characters long`
    ],
    [
      "unknown key in closeJob",
      edited("\"state\": \"closed\"", "\"state\": \"closed\", \"pane\": \"%1\""),
      `${worker}.closeJob: there is a key that does not belong here`
    ],
    [
      "unknown state",
      edited("\"state\": \"closed\"", "\"state\": \"gone\""),
      `${worker}.closeJob.state: is not one of the states of a close job`
    ],
    [
      "unknown reason",
      edited("worker_busy", "bored"),
      "agents[2].closeJob.reason: is not one of the reasons of a close job"
    ],
    [
      "a job id with a dot",
      edited("close-0199f2d2", "close.2"),
      "agents[2].closeJob.jobId: must be 1 to 128 letters, digits and hyphens"
    ],
    [
      "a time without a zone",
      edited("10:15:31Z", "10:15:31"),
      "agents[2].closeJob.updatedAt: must be an ISO-8601 time with a zone"
    ],
    [
      "a date that does not exist",
      edited("2025-11-02T10:15:31Z", "2025-13-02T10:15:31Z"),
      "agents[2].closeJob.updatedAt: must be a date that exists"
    ],
    [
      "two coordinators",
      edited("\"API 担当\",\n      \"coordinator\": false", "\"Coordinator\",\n      \"coordinator\": true").replace(
        "services/api",
        "."
      ).replace(/"handoff"[\s\S]*?"labels"/, "\"labels\""),
      `${worker}.name: two agents have this name`
    ],
    [
      "no coordinator",
      "{\"version\":1,\"multiplexer\":\"none\",\"agents\":[]}",
      "agents: exactly one agent is the coordinator, not 0"
    ],
    ["agents of another kind", "{\"version\":1,\"multiplexer\":\"none\",\"agents\":{}}", "agents: must be a list"],
    [
      "an agent of another kind",
      "{\"version\":1,\"multiplexer\":\"none\",\"agents\":[7]}",
      "agents[0]: must be an object"
    ],
    ["a list", "[]", "must be an object"],
    ["truncated", fixture.slice(0, 900), "it is not valid JSON (line 31, column 9)"],
    ["empty", "", "it is empty"],
    ["__proto__", edited("\"x-owner\": null", "\"__proto__\": {\"version\": 1}"), "it contains the key __proto__"],
    ["escaped __proto__", edited("\"colour\"", "\"\\u005f_proto__\""), "it contains the key __proto__"],
    [
      "nested too deeply",
      edited("\"blue\"", "[".repeat(100_000) + "]".repeat(100_000)),
      `it is nested more than ${maxDepth} levels deep`
    ]
  ]
  it.each(broken)("names the first failing path: %s", (_, text, problem) => {
    assert.strictEqual(problemOf(text), problem)
  })

  const roster = (workers: number): string =>
    JSON.stringify({
      version: 1,
      multiplexer: "none",
      agents: Array.from({ length: workers + 1 }, (_, index) => ({
        sessionId: `s${index}`,
        name: index === 0 ? "Coordinator" : `w${index}`,
        coordinator: index === 0,
        description: "d",
        port: 1,
        projectDirectory: "."
      }))
    })
  it("takes 256 workers and refuses the 257th", () => {
    assert.strictEqual(problemOf(roster(256)), "valid")
    assert.strictEqual(problemOf(roster(257)), "agents: at most 256 workers beside the coordinator")
    assert.strictEqual(problemOf(roster(300)), "agents: at most 256 workers beside the coordinator")
  })

  it("does not repeat the offending value", () => {
    for (const [, text] of broken) assert.isBelow(problemOf(text).length, 200)
    assert.notInclude(problemOf(edited("\"Docs\"", "\"  hunter2\"")), "hunter2")
    assert.notInclude(problemOf(edited("43120", "\"hunter2\"")), "hunter2")
  })

  it("finds agents by session and by name without regard to case", () => {
    const config = decoded(fixture)
    assert.strictEqual(coordinatorOf(config).name, "Coordinator")
    assert.strictEqual(agentByName(config, " docs ")?.port, 43121)
    assert.strictEqual(agentBySession(config, "0199f2d0-7c22-7d0b-8f02-7a3d9c0e2b03")?.name, "Docs")
    assert.isUndefined(agentByName(config, "nobody"))
  })

  it("validates a changed agent and the rules between all of them", () => {
    const config = decoded(fixture)
    const [first, second, third] = config.agents
    assert.isDefined(first)
    assert.isDefined(second)
    assert.isDefined(third)
    if (first === undefined || second === undefined || third === undefined) return
    const twice = changeConfig(config, { agents: [first, second, { ...third, name: second.name }] })
    assert.deepStrictEqual(
      Either.flip(twice),
      Either.right({ path: "agents[2].name", problem: "two agents have this name" })
    )
    const long = changeConfig(config, { agents: [first, second, { ...third, description: " " }] })
    assert.deepStrictEqual(
      Either.flip(long),
      Either.right({ path: "agents[2].description", problem: "must not be blank" })
    )
    const removed = changeConfig(config, { agents: [first, third] })
    assert.deepStrictEqual(Either.map(removed, (next) => next["dashboard"]), Either.right(config["dashboard"]))
  })

  it("takes what it made from this very config as it is, and merges and checks anything else", () => {
    const config = decoded(fixture)
    const made = Either.getOrThrow(changeConfig(config, { multiplexer: "tmux" }))
    assert.strictEqual(Either.getOrThrow(ensureChange(config, made)), made)
    const later = Either.getOrThrow(changeConfig(config, { agents: config.agents.slice(0, 2) }))
    const merged = Either.getOrThrow(ensureChange({ ...later, "x-outside": 1 }, made))
    assert.strictEqual(merged["x-outside"], 1)
    assert.deepStrictEqual(merged.agents, made.agents)
    const broken = { ...config, agents: config.agents.slice(1) }
    assert.isTrue(Either.isLeft(ensureChange(config, broken)))
  })
})
