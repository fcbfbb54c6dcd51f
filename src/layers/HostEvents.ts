import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import type { HostEvent } from "../domain/Activity.ts"

/** Reduces Pi's events to categories; never content, arguments or results (spec 3.6). */
export const subscribe = (pi: ExtensionAPI, see: (event: HostEvent) => void): void => {
  pi.on("agent_start", () => see({ type: "agent_start" }))
  pi.on("message_update", ({ assistantMessageEvent }) => {
    switch (assistantMessageEvent.type) {
      case "thinking_start":
      case "thinking_delta":
        return see({ type: "thinking" })
      case "thinking_end":
        return see({ type: "thinking_end" })
      case "text_start":
      case "text_delta":
        return see({ type: "responding" })
    }
  })
  pi.on(
    "tool_execution_start",
    ({ toolCallId, toolName }) => see({ type: "tool_start", id: toolCallId, tool: toolName })
  )
  pi.on("tool_execution_end", ({ toolCallId }) => see({ type: "tool_end", id: toolCallId }))
  pi.on("agent_settled", () => see({ type: "settled" }))
  pi.on("ui_prompt_start", () => see({ type: "prompt_start" }))
  pi.on("ui_prompt_end", () => see({ type: "prompt_end" }))
}
