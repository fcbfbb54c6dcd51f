import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Activity, Detail, Phase } from "./Activity.ts"
import { CloseReason, CloseState } from "./CloseTable.ts"
import { Envelope, type Kind } from "./Envelope.ts"
import type { LaunchFailed } from "./Launch.ts"
import { AgentName, Port, SessionId, Token } from "./Primitives.ts"
import type { Role } from "./Role.ts"
import type { SendError } from "./WireErrors.ts"

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
    readonly event: "transport.failed"
    readonly kind: Kind
    readonly peerSessionId: string
    readonly outcome: SendOutcome
  }
  | {
    readonly event: "transport.rejected"
    readonly kind: Kind
    readonly peerSessionId: string
    /** The status of the answer. */
    readonly outcome: string
  }
  | { readonly event: "registration.received"; readonly peerSessionId: string; readonly port: number }
  | {
    readonly event: "status.received"
    readonly peerSessionId: string
    readonly port: number
    readonly busy: boolean
  }
  | { readonly event: "launch.result"; readonly outcome: LaunchOutcome }
  | { readonly event: "host.submission"; readonly outcome: SubmissionOutcome }
  | ({ readonly event: "host.activity"; readonly busy: boolean } & Activity)
  | { readonly event: "host.ui_prompt"; readonly phase: "start" | "end" }
  | {
    readonly event: "close.transition"
    readonly peerSessionId: string
    /** The close job. */
    readonly correlationId?: string
    /** The job's new state. */
    readonly outcome: CloseState
    readonly detail?: CloseReason
  }

type SendOutcome = SendError["_tag"] | "StateUnusable"
type LaunchOutcome = "submitted" | LaunchFailed["reason"]
type SubmissionOutcome = "submitted" | "held" | "dropped"

/** A fixed list that has each of `A`, or it does not compile. */
const all = <A extends string>(values: Readonly<Record<A, true>>): ReadonlyArray<string> => Object.keys(values)

const events = all<Observation["event"]>({
  "runtime.starting": true,
  "runtime.ready": true,
  "runtime.closed": true,
  "runtime.failed": true,
  "config.changed": true,
  "config.reloaded": true,
  "transport.send": true,
  "transport.receipt": true,
  "transport.failed": true,
  "transport.received": true,
  "transport.rejected": true,
  "registration.received": true,
  "status.received": true,
  "launch.result": true,
  "host.submission": true,
  "host.activity": true,
  "host.ui_prompt": true,
  "close.transition": true
})
const kinds = Envelope.members.map((member) => member.fields.kind.literals[0])
const roles = all<Role>({ solo: true, coordinator: true, worker: true, unloaded: true, anonymous: true })
const phases = all<Phase | "start" | "end">({
  working: true,
  thinking: true,
  responding: true,
  tool: true,
  idle: true,
  waiting: true,
  start: true,
  end: true
})
const activities = all<Detail>({
  processing: true,
  thinking: true,
  responding: true,
  reading_files: true,
  editing_files: true,
  running_command: true,
  using_tool: true,
  multiple_tools: true,
  settled: true,
  waiting_for_user: true
})
const outcomes = all<SendOutcome | LaunchOutcome | SubmissionOutcome>({
  Undelivered: true,
  Rejected: true,
  OutcomeUnknown: true,
  StateUnusable: true,
  submitted: true,
  not_inside: true,
  missing_program: true,
  unsupported: true,
  directory: true,
  other_copy: true,
  too_long: true,
  failed: true,
  unknown: true,
  held: true,
  dropped: true
})

const status = Schema.String.pipe(Schema.pattern(/^[1-5]\d\d$/))
const word = Schema.String.pipe(Schema.pattern(/^[A-Za-z][A-Za-z0-9_.]{0,47}$/))

/** When it was: ISO, milliseconds, Z. */
const Instant = Schema.String.pipe(
  Schema.filter((text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text)))
)

const optional = {
  peerSessionId: SessionId,
  peerName: AgentName,
  correlationId: Token,
  kind: Schema.Literal(...kinds),
  operation: word,
  role: Schema.Literal(...roles),
  outcome: Schema.Union(Schema.Literal(...outcomes), CloseState, status),
  busy: Schema.Boolean,
  port: Port,
  phase: Schema.Literal(...phases),
  detail: Schema.Union(Schema.Literal(...activities), CloseReason),
  errorCode: word
}

const Fields = Schema.extend(
  Schema.Struct({
    version: Schema.Literal(1),
    timestamp: Instant,
    writerId: Token,
    sessionId: SessionId,
    event: Schema.Literal(...events)
  }),
  Schema.partialWith(Schema.Struct(optional), { exact: true })
)

const knows = new Map<string, (value: unknown) => boolean>(
  Object.entries<Schema.Schema.AnyNoContext>(optional).map(([name, schema]) => [name, Schema.is(schema)])
)
const isKnown = ([name, value]: readonly [string, unknown]): boolean => knows.get(name)?.(value) ?? true

/**
 * One line of a log (spec 7.1): each field from a fixed list or a bounded pattern, anything else dropped. What is written
 * is built by decoding through it, and what is read back is decoded by it again, since files are untrusted. An optional
 * field that is not what it should be is left out, since another version may know more values: before the others are
 * decoded, and not by a transformation of each, which took most of the time of reading a team's logs.
 */
export const ObservationRecord = Schema.transform(Schema.Unknown, Schema.typeSchema(Fields), {
  strict: false,
  decode: (value) => Predicate.isRecord(value) ? Object.fromEntries(Object.entries(value).filter(isKnown)) : value,
  encode: (record) => record
})
export type ObservationRecord = typeof ObservationRecord.Type

/** A record's line is at most 4 KiB with its newline; a larger one is dropped (spec 7.1). */
export const maxRecordBytes = 4 * 1024

const decodeRecord = Schema.decodeUnknownOption(ObservationRecord)
const decodeText = Schema.decodeUnknownOption(Schema.parseJson(ObservationRecord))

/** The line of what was observed, with its newline; none when it is no valid record or too large. */
export const recordLine = (
  head: Pick<ObservationRecord, "timestamp" | "writerId" | "sessionId">,
  observation: Observation
): Option.Option<string> =>
  decodeRecord({ version: 1, ...head, ...observation }).pipe(
    Option.map((record) => `${JSON.stringify(record)}\n`),
    Option.filter((line) => line.length <= maxRecordBytes && utf8.encode(line).length <= maxRecordBytes)
  )

const utf8 = new TextEncoder()

/** The record of a line; none for one that is broken, of another version or of an event that is not known. */
export const readRecord = (line: string): Option.Option<ObservationRecord> => decodeText(line)
