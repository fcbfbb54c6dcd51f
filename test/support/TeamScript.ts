import * as Effect from "effect/Effect"
import { type Answer, type Calls, held, type ModelRequest, say, type Script } from "./ScriptedModel.ts"

/**
 * A model for a team. A coordinator of it names each session that registers, reloads it, and does what the person says:
 * `tell <name>: <text> | <text>` sends them at once, `create worker` creates one, `resume <name>` resumes one that the
 * person says is closed. A worker echoes what it gets.
 */
export interface TeamScript {
  readonly script: Script
  /** From now on the next answer to this session's user text that holds `marker` waits for the gate. */
  readonly hold: (marker: string, gate: Effect.Effect<void>) => void
}

const registration = /\[Intercom registration[^\]]*\]\nsessionId: (".*")\nport: (\d+)\nprojectDirectory: (".*")/g

/** `nameOf` gives each session that registers its name in the team; `more` is what else a text makes the model do. */
export const make = (
  nameOf: (sessionId: string) => string,
  more: (text: string) => Calls = () => []
): TeamScript => {
  const held_ = new Map<string, Effect.Effect<void>>()

  /** What a text of somebody makes the model do. */
  const orders = (text: string): Calls => {
    const registered = [...text.matchAll(registration)].map(([, id, port, directory]) => {
      const sessionId: unknown = JSON.parse(id ?? "")
      const args = {
        sessionId,
        port: Number(port),
        projectDirectory: JSON.parse(directory ?? ""),
        name: nameOf(String(sessionId)),
        description: "Helps."
      }
      return { name: "intercom_configure_worker", args }
    })
    if (registered.length > 0) return registered
    const [, to, texts] = /^tell ([^:]+): ([\s\S]+)$/.exec(text) ?? []
    if (texts !== undefined) {
      return texts.split(" | ").map((message) => ({ name: "intercom_send", args: { to, message } }))
    }
    if (text === "create worker") return [{ name: "intercom_create_worker", args: {} }]
    const resumed = /^resume (.+)$/.exec(text)?.[1]
    if (resumed === undefined) return more(text)
    return [{ name: "intercom_resume_worker", args: { to: resumed, confirmClosed: true } }]
  }

  /** Whom it has just configured is reloaded. */
  const reloads = (request: ModelRequest): Calls => {
    const last = request.messages.findLast((message) => message.role === "assistant")
    if (last === undefined || request.fresh.every(({ role }) => role !== "tool")) return []
    return last.calls.flatMap((name, at) => {
      if (name !== "intercom_configure_worker") return []
      return [{ name: "intercom_reload_worker", args: { to: JSON.parse(last.args[at] ?? "{}").name } }]
    })
  }

  // Texts that came while it was at work come together.
  const coordinate = (request: ModelRequest): Answer | undefined => {
    const texts = request.fresh.filter(({ role }) => role === "user").map(({ text }) => text)
    const calls = [...reloads(request), ...texts.flatMap(orders)]
    return calls.length === 0 ? undefined : { _tag: "Tools", calls }
  }

  return {
    script: (request) => {
      const gate = [...held_].find(([marker]) => request.lastUser.includes(marker))
      if (gate !== undefined) {
        held_.delete(gate[0])
        return held(gate[1])
      }
      if (request.summary) return say("SUMMARY")
      return coordinate(request) ?? say(`ECHO ${request.messages.at(-1)?.text ?? ""}`)
    },
    hold: (marker, gate) => {
      held_.set(marker, gate)
    }
  }
}
