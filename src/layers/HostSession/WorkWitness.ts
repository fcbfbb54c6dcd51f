import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import * as Work from "../../domain/HostWork.ts"
import type { WorkMoment } from "../../services/HostWork.ts"

/** Follows the host's events in plain calls, so that what is true now can be read in a commit step. */
export interface WorkWitness {
  readonly state: () => Work.WorkState
  readonly see: (event: Work.WorkEvent) => void
  /** From now on this text, when an extension sends it, is a delivery of the job; until the conversation has it. */
  readonly markOfJob: (text: string) => void
  /** The host's `input`. */
  readonly input: (event: { readonly source: string; readonly text: string }) => void
  /** The host's `before_agent_start`, by the prompt that the run starts with; none when no user's text starts it. */
  readonly beforeAgentStart: (prompt: string | undefined) => void
  /** A message of the user entered the conversation. */
  readonly userMessage: (text: string) => void
  /** Calls back at each moment, after the state has changed; the returned function ends that. */
  readonly listen: (listener: (moment: WorkMoment) => void) => () => void
}

/** A job has one or two deliveries; more are marked only when the host loses them. */
const maxMarked = 16

/** A witness that has seen nothing. As another extension may add to a text, it is recognized by being contained. */
export const make = (): WorkWitness => {
  let state = Work.initial
  // Two deliveries may say the same: each is a text of the job.
  const marked: Array<string> = []
  const listeners = new Set<(moment: WorkMoment) => void>()
  const tell = (moment: WorkMoment) => listeners.forEach((listener) => listener(moment))
  const markedIn = (text: string) => marked.findIndex((one) => text.includes(one))

  const see = (event: Work.WorkEvent) => {
    const before = state
    state = Work.step(before, event)
    if (state.epoch !== before.epoch) tell("epoch")
    if (event.type === "settled") tell("settled")
  }

  return {
    state: () => state,
    see,
    markOfJob: (text) => {
      marked.push(text)
      if (marked.length > maxMarked) marked.shift()
    },
    // A person who sends such a text again, from the editor, sends it as theirs.
    input: ({ source, text }) => see({ type: "user_text", ofJob: source === "extension" && markedIn(text) >= 0 }),
    beforeAgentStart: (prompt) => see({ type: "run_prepared", ofJob: prompt !== undefined && markedIn(prompt) >= 0 }),
    userMessage: (text) => {
      const ours = markedIn(text)
      if (ours >= 0) marked.splice(ours, 1)
      see({ type: "user_text", ofJob: ours >= 0 })
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

type Content = string | ReadonlyArray<{ readonly type: string; readonly text?: string }>
const textOf = (content: Content): string =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n")

/**
 * A witness of this extension instance. Call it in the factory, right after the InputWitness: a text that one swallows
 * never comes here. What an extension loaded earlier handles itself is not seen; Pi's own dialogs are no events.
 */
export const watch = (pi: ExtensionAPI): WorkWitness => {
  const witness = make()
  const { see } = witness
  pi.on("session_start", () => see({ type: "session_start" }))
  pi.on("input", (event) => {
    witness.input(event)
    return { action: "continue" }
  })
  pi.on("before_agent_start", (event) => witness.beforeAgentStart("prompt" in event ? event.prompt : undefined))
  pi.on("agent_start", () => see({ type: "agent_start" }))
  pi.on("message_start", ({ message }) => {
    if (message.role === "user") witness.userMessage(textOf(message.content))
  })
  // 0.84.4 lets extensions that are told first start a run before this one is told of the end.
  pi.on("agent_settled", (_event, context) => see({ type: "settled", restarted: !context.isIdle() }))
  pi.on("user_bash", () => see({ type: "user_bash" }))
  pi.on("session_before_tree", () => see({ type: "tree_navigation" }))
  pi.on("session_tree", () => see({ type: "tree_navigation" }))
  pi.on("session_before_compact", ({ reason }) => see({ type: "compaction_start", manual: reason === "manual" }))
  pi.on("session_compact", () => see({ type: "compaction_end" }))
  pi.on("session_compact_failed", () => see({ type: "compaction_end" }))
  pi.on("ui_prompt_start", () => see({ type: "dialog_start" }))
  pi.on("ui_prompt_end", () => see({ type: "dialog_end" }))
  return witness
}
