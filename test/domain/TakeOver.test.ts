import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { Port, SessionId } from "../../src/domain/Primitives.ts"
import { observed, takeOver } from "../../src/domain/TakeOver.ts"
import { agentBySession, checkRules, coordinatorOf, decodeConfig, encodeConfig } from "../../src/domain/TeamConfig.ts"
import { configText, decoded } from "../support/TeamArbitrary.ts"

const port = Port.make(4711)

/** A team and one who takes over: a stranger, or one of its workers. */
const cases = FastCheck.tuple(configText(), FastCheck.nat()).map(([text, pick]) => {
  const config = decoded(text)
  const workers = config.agents.filter((agent) => !agent.coordinator)
  return { config, sessionId: workers[pick % (workers.length + 1)]?.sessionId ?? SessionId.make("a-stranger") }
})

describe("taking over a team (spec 4)", () => {
  it("gives a valid file with the session as its one coordinator, and leaves all others as they are", () => {
    FastCheck.assert(FastCheck.property(cases, ({ config, sessionId }) => {
      const next = Either.getOrThrow(takeOver(config, { sessionId, port }))
      assert.isUndefined(checkRules(next))
      assert.deepStrictEqual(decodeConfig(encodeConfig(next)), Either.right(JSON.parse(encodeConfig(next))))
      const { dashboardPort: _, ...old } = coordinatorOf(config)
      assert.deepStrictEqual(coordinatorOf(next), { ...old, sessionId, port })
      assert.strictEqual(agentBySession(next, sessionId), coordinatorOf(next))
      const others = config.agents.filter((agent) => !agent.coordinator && agent.sessionId !== sessionId)
      const kept = next.agents.filter((agent) => !agent.coordinator)
      assert.strictEqual(kept.length, others.length)
      for (const [index, agent] of others.entries()) assert.strictEqual(kept[index], agent)
      const { agents: _before, ...file } = config
      const { agents: _after, ...fileAfter } = next
      assert.deepStrictEqual(fileAfter, file)
    }))
  })

  it("says what was seen of every kind of endpoint, with its port", () => {
    const reasons = [
      { state: "connected", reason: "unproven" },
      { state: "disconnected", reason: "refused" },
      { state: "disconnected", reason: "identity_mismatch" },
      { state: "disconnected", reason: "timeout" },
      { state: "unknown", reason: "legacy" },
      { state: "unknown", reason: "malformed" }
    ] as const
    const sentences = reasons.map((probe) => observed(probe, port))
    assert.strictEqual(new Set(sentences).size, reasons.length)
    for (const sentence of sentences) assert.include(sentence, "4711")
  })
})
