import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"

/**
 * Another extension, with a tool that asks the user, and a hold: what a tool that is not ours was called for has been
 * done, but Pi knows it only when the gate at `GATE_URL` is opened.
 */
export default function asking(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "ask_user",
    label: "Ask the user",
    description: "Asks the user.",
    parameters: {
      type: "object",
      properties: { question: { type: "string" } },
      required: ["question"],
      additionalProperties: false
    } as const,
    execute: (_id, { question }, _signal, _update, { ui }) =>
      ui.input(question).then((answer = "") => ({ content: [{ type: "text", text: answer }], details: undefined }))
  })
  pi.on("tool_result", ({ toolName }) => {
    if (toolName.startsWith("intercom_")) return undefined
    return fetch(process.env["GATE_URL"] ?? "").then(() => undefined)
  })
}
