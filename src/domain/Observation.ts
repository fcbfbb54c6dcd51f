import type { Activity } from "./Activity.ts"
import type { CloseReason, CloseState } from "./CloseTable.ts"
import type { Kind } from "./Envelope.ts"
import type { Role } from "./Role.ts"

/** What can be recorded (spec 7.1): categories and ids, never bodies, arguments, paths or error texts. */
export type Observation =
  | { readonly event: "runtime.starting" | "runtime.closed" | "config.changed" | "config.reloaded" }
  | { readonly event: "runtime.ready"; readonly role: Role; readonly port: number }
  | { readonly event: "runtime.failed"; readonly errorCode: string }
  | {
    readonly event: "transport.send" | "transport.receipt" | "transport.received"
    readonly kind: Kind
    readonly peerSessionId: string
  }
  | {
    readonly event: "transport.failed" | "transport.rejected"
    readonly kind: Kind
    readonly peerSessionId: string
    readonly outcome: string
  }
  | { readonly event: "registration.received"; readonly peerSessionId: string; readonly port: number }
  | {
    readonly event: "status.received"
    readonly peerSessionId: string
    readonly port: number
    readonly busy: boolean
  }
  | {
    readonly event: "close.transition"
    readonly peerSessionId: string
    /** The job. */
    readonly correlationId: string
    readonly outcome: CloseState
    readonly detail?: CloseReason
  }
  | { readonly event: "launch.result"; readonly outcome: string }
  | { readonly event: "host.submission"; readonly outcome: "submitted" | "held" | "dropped" }
  | ({ readonly event: "host.activity"; readonly busy: boolean } & Activity)
  | { readonly event: "host.ui_prompt"; readonly phase: "start" | "end" }
