import type { SessionManager } from "@earendil-works/pi-coding-agent"
import type { SessionManager as OldSessionManager } from "pi-0-84"

/** A session as a Pi saves it, by its own class: with a finished turn. `folder` absent: where it does by default. */
export const saveWith = (
  manager: Pick<typeof SessionManager | typeof OldSessionManager, "create">,
  id: string,
  cwd: string,
  folder?: string
): string => {
  const session = manager.create(cwd, folder, { id })
  session.appendMessage({ role: "user", content: "hello", timestamp: 1 })
  session.appendMessage({
    role: "assistant",
    content: [{ type: "text", text: "x".repeat(10_000) }],
    api: "openai-completions",
    provider: "mock",
    model: "mock-1",
    usage: {
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 2,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
    },
    stopReason: "stop",
    timestamp: 2
  })
  return session.getSessionFile() ?? ""
}
