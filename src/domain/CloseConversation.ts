import type { CloseReason } from "./CloseTable.ts"
import type { EnvelopeOf } from "./Envelope.ts"
import { Refused } from "./SessionErrors.ts"

/** A refusal of the close conversation: its rule in one sentence, and a close reason as `code` on the wire (spec 6.1). */
export const refusal = (code: CloseReason, sentence: string): Refused =>
  new Refused({ reason: "changed", sentence: `${sentence}; nothing was done`, code })

/** How far a job has come in talking with its worker; `instanceId` is the worker's session start (spec 6.2). */
export type Conversation =
  /** Nothing is known of the worker yet. */
  | { readonly _tag: "Requested" }
  /** It said who it is, and nothing of its handoff yet. */
  | { readonly _tag: "Identified"; readonly instanceId: string }
  /** The handoff of that report is on disk. */
  | { readonly _tag: "Reported"; readonly instanceId: string; readonly report: number }
  /** It said, once, that it has settled after that report. */
  | { readonly _tag: "Ready"; readonly instanceId: string; readonly report: number; readonly readyNonce: string }

/** What the worker sends. */
export type WorkerMessage = EnvelopeOf<"close_identity"> | EnvelopeOf<"handoff_report"> | EnvelopeOf<"close_ready">

/** `Accept`: go on to `next`. `Repeat`: it was accepted before, so it is again, without effect. */
export type Verdict =
  | { readonly _tag: "Accept"; readonly next: Conversation }
  | { readonly _tag: "Repeat" }
  | { readonly _tag: "Refuse"; readonly refused: Refused }

const accept = (next: Conversation): Verdict => ({ _tag: "Accept", next })
const repeat: Verdict = { _tag: "Repeat" }
const refuse = (code: CloseReason, sentence: string): Verdict => ({
  _tag: "Refuse",
  refused: refusal(code, sentence)
})

const otherInstance = refuse("worker_changed", "this session was restarted since the close began")
const early = refuse("worker_changed", "this session has not said yet which pane it is in")

/** Judges a message of the job's worker (spec 6.2): each is idempotent by job, instance, report number and nonce. */
export const judge = (state: Conversation, message: WorkerMessage): Verdict => {
  const { instanceId } = message.payload
  if (state._tag !== "Requested" && state.instanceId !== instanceId) return otherInstance
  switch (message.kind) {
    case "close_identity": {
      if (state._tag !== "Requested") return repeat
      return message.payload.identity.sessionId === message.from
        ? accept({ _tag: "Identified", instanceId })
        : refuse("identity_failed", "the pane is said to be of another session than the one that says so")
    }
    case "handoff_report": {
      const { report } = message.payload
      if (state._tag === "Requested") return early
      if (state._tag === "Identified") return accept({ _tag: "Reported", instanceId, report })
      if (report === state.report) return repeat
      if (report < state.report) return refuse("commit_rejected", "a later handoff is saved already")
      return state._tag === "Ready"
        ? refuse("commit_rejected", "the pane is being closed already, with the handoff before this one")
        : accept({ _tag: "Reported", instanceId, report })
    }
    case "close_ready": {
      const { readyNonce, report } = message.payload
      if (state._tag === "Requested") return early
      if (state._tag === "Identified" || report !== state.report) {
        return refuse("commit_rejected", "it does not belong to the handoff that is saved")
      }
      if (state._tag === "Reported") return accept({ _tag: "Ready", instanceId, report, readyNonce })
      return readyNonce === state.readyNonce
        ? repeat
        : refuse("commit_rejected", "another announcement of the same handoff was accepted already")
    }
  }
}
