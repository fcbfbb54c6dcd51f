import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PiTools from "../../../src/layers/HostTools/Pi.ts"
import { HostTools } from "../../../src/services/HostTools.ts"

const makeHost = (active: ReadonlyArray<string>) => {
  const sets: Array<ReadonlyArray<string>> = []
  const layer = PiTools.layer({
    getActiveTools: () => [...(sets.at(-1) ?? active)],
    setActiveTools: (names) => {
      sets.push(names)
    }
  })
  return { sets, layer }
}

describe("HostTools over Pi", () => {
  it.effect("activates exactly these of ours and leaves the others", () => {
    const host = makeHost(["read", "intercom_send", "bash", "intercom_list", "intercom_of_someone_else"])
    return Effect.gen(function*() {
      const tools = yield* HostTools
      yield* tools.activate(["intercom_list", "intercom_report_status"])
      const others = ["read", "bash", "intercom_of_someone_else"]
      assert.deepStrictEqual(host.sets, [[...others, "intercom_list", "intercom_report_status"]])
      yield* tools.activate([])
      assert.deepStrictEqual(host.sets.at(-1), others)
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("sets nothing when nothing changes", () => {
    const host = makeHost(["intercom_send", "read", "intercom_list"])
    return Effect.gen(function*() {
      yield* (yield* HostTools).activate(["intercom_list", "intercom_send"])
      assert.deepStrictEqual(host.sets, [])
    }).pipe(Effect.provide(host.layer))
  })

  it.effect("is safe after the session was replaced", () => {
    const stale = () => {
      throw new Error("This extension ctx is stale after session replacement or reload.")
    }
    return Effect.gen(function*() {
      yield* (yield* HostTools).activate(["intercom_send"])
    }).pipe(Effect.provide(PiTools.layer({ getActiveTools: stale, setActiveTools: stale })))
  })
})
