import type { Kind } from "./Envelope.ts"
import type { Role } from "./Role.ts"
import { Refused } from "./SessionErrors.ts"
import type { ToolName } from "./ToolCatalogue.ts"

/**
 * One table for tools and receivers (spec 4, 2.3): who may use a tool, from whom and by whom a wire kind is taken, and
 * what the close fence refuses.
 */
interface ToolRule {
  /** Who may call it. */
  readonly by: ReadonlySet<Role>
  /** Refused while the caller or the target is fenced. */
  readonly fenced: boolean
}

const tool = (by: ReadonlyArray<Role>, fenced: "fenced" | "free"): ToolRule => ({
  by: new Set(by),
  fenced: fenced === "fenced"
})

export const toolRules: Readonly<Record<ToolName, ToolRule>> = {
  intercom_create_worker: tool(["solo", "coordinator"], "free"),
  intercom_set_multiplexer: tool(["solo", "coordinator"], "free"),
  intercom_configure_worker: tool(["coordinator"], "fenced"),
  intercom_reload_worker: tool(["coordinator"], "fenced"),
  intercom_send: tool(["coordinator", "worker"], "fenced"),
  intercom_list: tool(["coordinator", "worker", "unloaded"], "free"),
  intercom_worker_status: tool(["coordinator", "worker", "unloaded"], "free"),
  intercom_request_status: tool(["coordinator"], "free"),
  intercom_report_status: tool(["worker", "unloaded", "anonymous"], "free"),
  intercom_report_work: tool(["worker"], "fenced"),
  intercom_close_worker: tool(["coordinator"], "free"),
  intercom_report_handoff: tool(["worker", "unloaded"], "free"),
  intercom_stop_worker: tool(["coordinator"], "fenced"),
  intercom_resume_worker: tool(["coordinator"], "fenced"),
  intercom_remove_worker: tool(["coordinator"], "fenced")
}

type Party = "coordinator" | "configured" | "worker" | "not_coordinator"

interface WireRule {
  /** What the sender must be in the receiver's fresh config. */
  readonly from: Party
  /** What the receiver itself must be. */
  readonly by: ReadonlySet<Role>
  /** Refused while sender or receiver is fenced. */
  readonly fenced: boolean
}

const wire = (from: Party, by: ReadonlyArray<Role>, fenced: "fenced" | "free"): WireRule => ({
  from,
  by: new Set(by),
  fenced: fenced === "fenced"
})
const anyWorker: ReadonlyArray<Role> = ["worker", "unloaded", "anonymous"]

export const wireRules: Readonly<Record<Kind, WireRule>> = {
  message: wire("configured", ["coordinator", "worker"], "fenced"),
  report: wire("worker", ["coordinator"], "fenced"),
  registration: wire("not_coordinator", ["coordinator"], "free"),
  status: wire("not_coordinator", ["coordinator"], "free"),
  request_status: wire("coordinator", anyWorker, "free"),
  reload: wire("coordinator", anyWorker, "fenced"),
  stop: wire("coordinator", anyWorker, "fenced"),
  close: wire("coordinator", anyWorker, "free"),
  close_prepare: wire("coordinator", anyWorker, "free"),
  close_identity: wire("worker", ["coordinator"], "free"),
  close_request: wire("coordinator", anyWorker, "free"),
  handoff_report: wire("worker", ["coordinator"], "free"),
  close_ready: wire("worker", ["coordinator"], "free"),
  close_commit: wire("coordinator", anyWorker, "free")
}

const callerReason: Readonly<Record<Role, Refused>> = {
  solo: new Refused({
    reason: "no_team",
    sentence: "There is no team yet, so nothing was done. Create a worker first, or run /intercom start."
  }),
  coordinator: new Refused({
    reason: "not_worker",
    sentence: "This session is the team's coordinator and this is for workers; nothing was done."
  }),
  worker: new Refused({
    reason: "not_coordinator",
    sentence: "Only the team's coordinator may do this; nothing was done."
  }),
  unloaded: new Refused({
    reason: "unloaded",
    sentence: "This session has not loaded its responsibility yet, so nothing was done. The coordinator must reload it."
  }),
  anonymous: new Refused({
    reason: "anonymous",
    sentence:
      "This session is not configured in the team yet, so nothing was done. Wait for the coordinator to configure it."
  })
}

/** Whether a session of this role may call the tool; the fence is looked at separately, by {@link fenceRefusal}. */
export const mayCall = (name: ToolName, role: Role): Refused | undefined => {
  if (toolRules[name].by.has(role)) return undefined
  if (role === "unloaded" && !toolRules[name].by.has("worker")) return callerReason.worker
  return callerReason[role]
}

/** What a fenced session is refused (spec 4). `name` is the fenced session's name, `self` if it is the caller. */
export const fenceRefusal = (fenced: { readonly name: string; readonly self: boolean }): Refused =>
  new Refused({
    reason: "fenced",
    sentence: fenced.self
      ? "This session is being closed or its close is unsettled, so nothing was done. It may only report its handoff, if it was asked for one, and wait."
      : `${fenced.name} is being closed or its close is unsettled, so nothing was done. ` +
        "Wait for the close notice, or let the person run /intercom resolve."
  })

const receiverReason: Readonly<Record<Role, string>> = {
  solo: "this session has no team",
  coordinator: "this session is the coordinator and does not take this from another session",
  worker: "this session is not the coordinator",
  unloaded: "this session has not loaded its responsibility yet",
  anonymous: "this session is not configured yet"
}

/** The sender as the receiver's fresh config knows it; `undefined` for a session that is not in it. */
export interface KnownSender {
  readonly coordinator: boolean
  readonly fenced: boolean
}

/** Whether a receiver of this role takes this kind from this sender. */
export const mayReceive = (
  kind: Kind,
  receiver: { readonly role: Role; readonly fenced: boolean },
  sender: KnownSender | undefined
): Refused | undefined => {
  const rule = wireRules[kind]
  const refuse = (reason: Refused["reason"], sentence: string) => new Refused({ reason, sentence })
  if (!rule.by.has(receiver.role)) {
    const reason = receiver.role === "unloaded" && !rule.by.has("worker") ? "worker" : receiver.role
    return refuse("not_coordinator", receiverReason[reason])
  }
  if (rule.from === "coordinator" && sender?.coordinator !== true) {
    return refuse("not_coordinator", "only the team's coordinator may send this")
  }
  if (rule.from === "not_coordinator" && sender?.coordinator === true) {
    return refuse("not_worker", "the coordinator does not send this")
  }
  if ((rule.from === "configured" || rule.from === "worker") && sender === undefined) {
    return refuse("anonymous", "the sender is not configured in this team")
  }
  if (rule.from === "worker" && sender?.coordinator === true) return refuse("not_worker", "only a worker may send this")
  if (rule.fenced && (receiver.fenced || sender?.fenced === true)) {
    return refuse("fenced", receiver.fenced ? "this session is being closed" : "the sender is being closed")
  }
  return undefined
}
