import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { roleOf } from "../../src/domain/Role.ts"
import { decoded } from "../support/TeamArbitrary.ts"

const config = decoded(readFileSync(new URL("../fixtures/team-0.6.1.json", import.meta.url), "utf8"))
const [, entry] = config.agents
const loadedWorker = { name: entry?.name ?? "", responsibility: entry?.description ?? "" }
const [coordinator, worker] = config.agents.map((agent) => String(agent.sessionId))

describe("roleOf", () => {
  it.each([
    [coordinator, loadedWorker, "coordinator"],
    [coordinator, undefined, "coordinator"],
    [worker, loadedWorker, "worker"],
    [worker, undefined, "unloaded"],
    [worker, { ...loadedWorker, name: "Another" }, "unloaded"],
    [worker, { ...loadedWorker, responsibility: "Another." }, "unloaded"],
    ["a-fork", loadedWorker, "anonymous"],
    ["a-fork", undefined, "anonymous"]
  ])("%s, loaded %j: %s", (sessionId = "", loaded, role) => {
    const found = roleOf(config, sessionId, loaded)
    assert.strictEqual(found.role, role)
    assert.strictEqual(found.self?.sessionId, role === "anonymous" ? undefined : sessionId)
  })
})
