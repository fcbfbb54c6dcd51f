import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { roleOf } from "../../src/domain/Role.ts"
import { decoded } from "../support/TeamArbitrary.ts"

const config = decoded(readFileSync(new URL("../fixtures/team-0.6.1.json", import.meta.url), "utf8"))
const [coordinator, worker] = config.agents.map((agent) => String(agent.sessionId))

describe("roleOf", () => {
  it.each([
    [coordinator, true, "coordinator"],
    [coordinator, false, "coordinator"],
    [worker, true, "worker"],
    [worker, false, "unloaded"],
    ["a-fork", true, "anonymous"],
    ["a-fork", false, "anonymous"]
  ])("%s, loaded %s: %s", (sessionId = "", loaded, role) => {
    const found = roleOf(config, sessionId, loaded)
    assert.strictEqual(found.role, role)
    assert.strictEqual(found.self?.sessionId, role === "anonymous" ? undefined : sessionId)
  })
})
