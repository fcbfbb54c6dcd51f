import * as Effect from "effect/Effect"
import { type Answer, call, held, type ModelRequest, say, type Script } from "./ScriptedModel.ts"

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

const registration = /\[Intercom registration[^\]]*\]\nsessionId: (".*")\nport: (\d+)\nprojectDirectory: (".*")/

const lastCall = (request: ModelRequest): string | undefined =>
  request.messages.findLast((message) => message.role === "assistant")?.calls[0]

/** `nameOf` gives each session that registers its name in the team. */
export const make = (nameOf: (sessionId: string) => string): TeamScript => {
  const held_ = new Map<string, Effect.Effect<void>>()

  const coordinate = (request: ModelRequest): Answer | undefined => {
    const registered = registration.exec(request.lastUser)
    if (registered !== null && request.lastRole === "user") {
      const sessionId: unknown = JSON.parse(registered[1] ?? "")
      return call("intercom_configure_worker", {
        sessionId,
        port: Number(registered[2]),
        projectDirectory: JSON.parse(registered[3] ?? ""),
        name: nameOf(String(sessionId)),
        description: "Helps."
      })
    }
    if (registered !== null && lastCall(request) === "intercom_configure_worker") {
      return call("intercom_reload_worker", { to: nameOf(String(JSON.parse(registered[1] ?? ""))) })
    }
    const told = /^tell ([^:]+): ([\s\S]+)$/.exec(request.lastUser)
    if (told !== null && request.lastRole === "user") {
      const texts = (told[2] ?? "").split(" | ")
      return {
        _tag: "Tools",
        calls: texts.map((message) => ({ name: "intercom_send", args: { to: told[1], message } }))
      }
    }
    if (request.lastUser === "create worker" && request.lastRole === "user") return call("intercom_create_worker")
    const resumed = /^resume (.+)$/.exec(request.lastUser)
    if (resumed !== null && request.lastRole === "user") {
      return call("intercom_resume_worker", { to: resumed[1], confirmClosed: true })
    }
    return undefined
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
