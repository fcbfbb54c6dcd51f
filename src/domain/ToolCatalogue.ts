import type * as Schema from "effect/Schema"
import * as S from "effect/Schema"
import { MessageText } from "./Envelope.ts"
import { AgentName, MultiplexerKind, Port, Responsibility, Summary, Token } from "./Primitives.ts"
import { ReportStatus, ReportSummary } from "./Report.ts"
import type { Role } from "./Role.ts"

/**
 * Every tool the product gives a model: its name, its words, the schema its arguments are decoded by and its JSON
 * Schema is generated from, and the roles it is active for (spec 4). Descriptions are read by a model on each turn.
 */

const closed = { parseOptions: { onExcessProperty: "error" } } as const
const args = <Fields extends Schema.Struct.Fields>(fields: Fields) => S.Struct(fields).annotations(closed)
const optional = <A, I>(schema: Schema.Schema<A, I>) => S.optionalWith(schema, { exact: true })
const nameOf = S.String.pipe(S.minLength(1), S.maxLength(128))
/** `Schema.Struct({})` accepts anything that is not null, so a tool without arguments has a schema of its own. */
const noArgs = S.Record({ key: S.String, value: S.Unknown }).pipe(
  S.filter((given) => Object.keys(given).length === 0 || "takes no arguments")
)

export const toolArguments = {
  intercom_create_worker: args({ projectDirectory: optional(S.String.pipe(S.minLength(1), S.maxLength(4096))) }),
  intercom_configure_worker: args({
    sessionId: S.String.pipe(S.minLength(1), S.maxLength(256)),
    port: Port,
    projectDirectory: S.String.pipe(S.minLength(1), S.maxLength(4096)),
    name: AgentName,
    description: Responsibility
  }),
  intercom_reload_worker: args({ to: nameOf }),
  intercom_send: args({ to: nameOf, message: MessageText }),
  intercom_list: noArgs,
  intercom_worker_status: args({
    name: optional(nameOf),
    offset: optional(S.Int.pipe(S.nonNegative())),
    limit: optional(S.Int.pipe(S.between(1, 20))),
    probe: optional(S.Boolean)
  }),
  intercom_request_status: args({ to: nameOf }),
  intercom_report_status: noArgs,
  intercom_report_work: args({ status: ReportStatus, summary: optional(ReportSummary) }),
  intercom_close_worker: args({ to: nameOf, timeoutSeconds: optional(S.Int.pipe(S.between(30, 600))) }),
  intercom_report_handoff: args({ jobId: Token, summary: Summary }),
  intercom_stop_worker: args({ to: nameOf }),
  intercom_resume_worker: args({ to: nameOf, confirmClosed: S.Boolean }),
  intercom_remove_worker: args({ to: nameOf }),
  intercom_set_multiplexer: args({ multiplexer: MultiplexerKind })
} as const

export type ToolName = keyof typeof toolArguments
export type ToolArguments<Name extends ToolName> = (typeof toolArguments)[Name]["Type"]

/** A tool's words and where it is active. `active` empty: not in this version yet (its call is refused). */
export interface ToolEntry {
  readonly label: string
  readonly description: string
  readonly active: ReadonlyArray<Role>
}

export const tools: Readonly<Record<ToolName, ToolEntry>> = {
  intercom_create_worker: {
    label: "Create worker",
    description:
      "Opens a terminal tab with a new, unconfigured worker Pi in a directory below the root (default: the " +
      "root). It registers by itself in a later message; do not wait for it.",
    active: ["solo", "coordinator"]
  },
  intercom_set_multiplexer: {
    label: "Set multiplexer",
    description: "Chooses where later workers are opened. Moves nothing that runs.",
    active: ["solo", "coordinator"]
  },
  intercom_configure_worker: {
    label: "Configure worker",
    description:
      "Writes a registered session's name, responsibility, port and directory into the team file. The worker " +
      "takes no work until intercom_reload_worker.",
    active: ["coordinator"]
  },
  intercom_reload_worker: {
    label: "Reload worker",
    description: "Makes a worker load its saved name and responsibility. Starts no turn.",
    active: ["coordinator"]
  },
  intercom_send: {
    label: "Send message",
    description: "Sends a message to a team member by name; it starts or steers their turn. Accepted means received, " +
      "not read or done; an answer comes as a message of its own.",
    active: ["coordinator", "worker"]
  },
  intercom_list: {
    label: "List team",
    description: "The saved roster: names, session ids, responsibilities, close states. Checks nothing live.",
    active: ["coordinator", "worker"]
  },
  intercom_worker_status: {
    label: "Worker status",
    description:
      "What is observed of the workers, without interrupting them. probe checks their endpoints; idle is not done.",
    active: ["coordinator", "worker"]
  },
  intercom_request_status: {
    label: "Request status",
    description:
      "Asks a worker's extension for port and busy state; they come in a later message. No turn starts there.",
    active: ["coordinator"]
  },
  intercom_report_status: {
    label: "Report status",
    description: "Sends this session's port and busy state to the coordinator.",
    active: ["worker", "unloaded", "anonymous"]
  },
  intercom_report_work: {
    label: "Report work",
    description:
      "Reports blocked, needs_decision or ready_for_review with a summary to the coordinator, or clears the " +
      "report. Then end your turn and wait.",
    active: ["worker"]
  },
  intercom_remove_worker: {
    label: "Remove worker",
    description: "Removes a worker's entry from the team file only: its process and session stay.",
    active: ["coordinator"]
  },
  intercom_close_worker: {
    label: "Close worker",
    description:
      "Parks a worker: saves its handoff and, once its turn has ended, closes its pane; its session stays. " +
      "Returns at once; a close notice says what became of it.",
    active: ["coordinator"]
  },
  intercom_report_handoff: {
    label: "Report handoff",
    description:
      "Saves this session's handoff for the close that asked for it. Then end your turn: the pane is closed.",
    active: ["worker", "unloaded"]
  },
  intercom_stop_worker: { label: "Stop worker", description: "", active: [] },
  intercom_resume_worker: {
    label: "Resume worker",
    description:
      "Opens a tab with a closed worker's saved session; assigns nothing. confirmClosed: only after the user " +
      "said that its old session is closed.",
    active: ["coordinator"]
  }
}

/** Whether a name is one of our tools. */
export const isToolName = (name: string): name is ToolName => Object.hasOwn(toolArguments, name)

/** Every tool's name, in the catalogue's order. */
export const toolNames: ReadonlyArray<ToolName> = Object.keys(toolArguments).filter(isToolName)

/**
 * The tools that a session of this role is given (spec 4: tools cost the model tokens on every turn): none that could
 * only refuse, where nothing can be closed or no close asks for a handoff.
 */
export const activeTools = (
  role: Role,
  { canClose, reports }: { readonly canClose: boolean; readonly reports: boolean }
): ReadonlyArray<ToolName> =>
  toolNames.filter((name) =>
    tools[name].active.includes(role) && (canClose || name !== "intercom_close_worker") &&
    (reports || name !== "intercom_report_handoff")
  )
