import type { ExtensionAPI, InputEvent, InputEventResult } from "@earendil-works/pi-coding-agent"

/**
 * Sees what the host does with texts, since `sendUserMessage` answers nothing and fails silently. What was measured on
 * both hosts:
 * - A text dropped at once (manual compaction, stale session) never reaches the `input` event.
 * - The event may come late: after the async `input` handlers of extensions loaded before this one, and on 1.6 after
 *   all `agent_settled` handlers when the text was sent during one.
 * - While the host is idle the event proves nothing yet. Between it and `agent_start` a second text starts a run of its
 *   own, which the host then drops with an error; and without a usable model no run starts at all. There
 *   `before_agent_start` is the proof.
 */
export interface InputWitness {
  /** The host's `input`: before anything else looks at it. Answers what the handler answers. */
  readonly input: (event: Pick<InputEvent, "source" | "streamingBehavior" | "text">) => InputEventResult
  /** The host's `before_agent_start`, by the prompt that the run starts with; none when no user's text starts it. */
  readonly beforeAgentStart: (prompt: string | undefined) => void
  /** The host's `agent_start`. */
  readonly agentStart: () => void
  /** Whether a text is on its way to start a run: until `agent_start`, nothing else may be sent to an idle host. */
  readonly starting: () => boolean
  /** Forgets a start that never came (another extension handled the text, or there is no model). */
  readonly forgetStart: () => void
  /**
   * Watches for one text at a time; `taken` is called once when the host has it. The returned function gives up and says
   * whether the text had reached the host all the same; if not, and should it arrive later, it is swallowed, so that
   * "not delivered" stays true.
   */
  readonly expect: (text: string, taken: () => void) => () => boolean
}

/** More would mean that a host defers without end; the oldest is then let through. */
const maxGivenUp = 64

/**
 * A witness that has seen nothing. Another extension may add to a text, so a text is recognized by being contained; one
 * that rewrites it is not recognized.
 */
export const make = (): InputWitness => {
  let starting = false
  let expected: { readonly text: string; readonly taken: () => void } | undefined
  let reached = false
  const givenUp: Array<string> = []

  const take = () => {
    const taken = expected?.taken
    expected = undefined
    taken?.()
  }
  const isExpected = (text: string) => expected !== undefined && text.includes(expected.text)

  return {
    input: ({ source, streamingBehavior, text }) => {
      const ours = source === "extension" && isExpected(text)
      // What is expected now is not late, even when the same text was given up before.
      const late = source === "extension" && !ours ? givenUp.indexOf(text) : -1
      if (late >= 0) {
        givenUp.splice(late, 1)
        return { action: "handled" }
      }
      if (streamingBehavior === undefined) starting = true
      if (ours) {
        reached = true
        if (streamingBehavior !== undefined) take()
      }
      return { action: "continue" }
    },
    beforeAgentStart: (prompt) => {
      starting = true
      if (prompt !== undefined && isExpected(prompt)) take()
    },
    agentStart: () => {
      starting = false
    },
    starting: () => starting,
    forgetStart: () => {
      starting = false
    },
    expect: (text, taken) => {
      expected = { text, taken }
      reached = false
      // Sent anew: the earlier copy can no longer be told from this one.
      const before = givenUp.indexOf(text)
      if (before >= 0) givenUp.splice(before, 1)
      return () => {
        if (expected?.taken !== taken) return true
        expected = undefined
        // A text that was seen is past the point where it could be swallowed.
        if (reached) return true
        givenUp.push(text)
        if (givenUp.length > maxGivenUp) givenUp.shift()
        return false
      }
    }
  }
}

/** A witness of this extension instance. Call it first in the factory: handlers run in order, each is waited for. */
export const watch = (pi: ExtensionAPI): InputWitness => {
  const witness = make()
  pi.on("input", witness.input)
  pi.on("before_agent_start", (event) => witness.beforeAgentStart("prompt" in event ? event.prompt : undefined))
  pi.on("agent_start", witness.agentStart)
  return witness
}
