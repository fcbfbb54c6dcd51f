import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { type HostEvent, initial, isBusy, step } from "../../src/domain/Activity.ts"

const after = (...events: ReadonlyArray<HostEvent>) => events.reduce(step, initial).shown
const start = (id: string, tool: string): HostEvent => ({ type: "tool_start", id, tool })
const end = (id: string): HostEvent => ({ type: "tool_end", id })

describe("Activity", () => {
  it("follows the table of spec 3.6", () => {
    const run: HostEvent = { type: "agent_start" }
    assert.deepStrictEqual(after(), { phase: "idle", detail: "settled" })
    assert.deepStrictEqual(after(run), { phase: "working", detail: "processing" })
    assert.deepStrictEqual(after(run, { type: "thinking" }), { phase: "thinking", detail: "thinking" })
    assert.deepStrictEqual(after(run, { type: "thinking" }, { type: "thinking_end" }), {
      phase: "working",
      detail: "processing"
    })
    assert.deepStrictEqual(after(run, { type: "responding" }), { phase: "responding", detail: "responding" })
    for (
      const [tool, detail] of [
        ["read", "reading_files"],
        ["edit", "editing_files"],
        ["write", "editing_files"],
        ["bash", "running_command"],
        ["powershell", "running_command"],
        ["intercom_send", "using_tool"]
      ] as const
    ) assert.deepStrictEqual(after(run, start("1", tool)), { phase: "tool", detail })
    assert.deepStrictEqual(after(run, start("1", "read"), start("2", "bash")), {
      phase: "tool",
      detail: "multiple_tools"
    })
    assert.deepStrictEqual(after(run, start("1", "read"), start("2", "bash"), end("1")), {
      phase: "tool",
      detail: "running_command"
    })
    assert.deepStrictEqual(after(run, start("1", "read"), end("1")), { phase: "working", detail: "processing" })
    assert.deepStrictEqual(after(run, { type: "settled" }), { phase: "idle", detail: "settled" })
  })

  it("ignores message events while tools run", () => {
    assert.deepStrictEqual(
      after({ type: "agent_start" }, start("1", "read"), { type: "responding" }, { type: "thinking" }),
      {
        phase: "tool",
        detail: "reading_files"
      }
    )
  })

  it("shows a dialog until it ends, then what went on behind it", () => {
    const asked: ReadonlyArray<HostEvent> = [{ type: "agent_start" }, { type: "prompt_start" }, start("1", "bash")]
    assert.deepStrictEqual(after(...asked), { phase: "waiting", detail: "waiting_for_user" })
    assert.deepStrictEqual(after(...asked, { type: "prompt_end" }), { phase: "tool", detail: "running_command" })
  })

  it("is idle after settling, whatever came before (property)", () => {
    const event = FC.oneof(
      FC.constantFrom<HostEvent>(
        { type: "agent_start" },
        { type: "thinking" },
        { type: "thinking_end" },
        { type: "responding" },
        { type: "settled" },
        { type: "prompt_start" },
        { type: "prompt_end" }
      ),
      FC.record({
        type: FC.constant("tool_start" as const),
        id: FC.constantFrom("1", "2"),
        tool: FC.constantFrom("read", "x")
      }),
      FC.record({ type: FC.constant("tool_end" as const), id: FC.constantFrom("1", "2") })
    )
    FC.assert(FC.property(FC.array(event), (events) => {
      const shown = after(...events, { type: "prompt_end" }, { type: "settled" })
      assert.isFalse(isBusy(shown))
    }))
  })
})
